package reproduce

import (
	"math"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
)

// Verdict says whether a claim was reproduced.
type Verdict string

// The verdicts.
const (
	Reproduced    Verdict = "reproduced"     // same direction, and the difference within 10 percentage points of the published one, or better
	DirectionOnly Verdict = "direction only" // the direction alone
	NotReproduced Verdict = "not reproduced"
	NotRun        Verdict = "not run"
	Described     Verdict = "described" // of inputs, or of machines of the authors: nothing that could be run here
)

// Verdicts lists the verdicts in the order in which they are counted.
func Verdicts() []Verdict {
	return []Verdict{Reproduced, DirectionOnly, NotReproduced, NotRun, Described}
}

// tolerance is in percentage points of a difference, and for a figure without a
// baseline in percent of the published one. It is the same for all claims.
const tolerance = 10

// judge scores a value: for a claim about a baseline the difference from it in
// percent, for others the figure itself. A claim to be close has no direction,
// and neither has a figure by itself; a bound that is missed by less than the
// tolerance counts as the direction.
func judge(c papers.Claim, value float64) Verdict {
	margin := math.Round(bears(c, value)*1e9) / 1e9 // what binary fractions add is none of it
	switch c.Relation {
	case papers.Lower, papers.Higher:
		switch {
		case !(margin > 0):
			return NotReproduced
		case margin < c.Percent-tolerance:
			return DirectionOnly
		}
		return Reproduced
	case papers.Close:
		return within(-margin <= c.Percent+tolerance, NotReproduced)
	case papers.Equal:
		return within(-margin <= tolerance, NotReproduced)
	case papers.AtLeast, papers.AtMost:
		if margin < 0 {
			return within(-margin <= tolerance, NotReproduced).weaker()
		}
		return Reproduced
	}
	return NotReproduced
}

func within(ok bool, otherwise Verdict) Verdict {
	if ok {
		return Reproduced
	}
	return otherwise
}

// weaker is what a verdict is worth when a bound is missed.
func (v Verdict) weaker() Verdict {
	if v == Reproduced {
		return DirectionOnly
	}
	return v
}

// mostFavourable is the value of an interval that bears a claim out most.
func mostFavourable(c papers.Claim, interval [2]float64) float64 {
	best := interval[0]
	if bears(c, interval[1]) > bears(c, best) {
		best = interval[1]
	}
	goal := 0.0 // of what is to be close to a baseline
	if c.Relation == papers.Equal {
		goal = *c.To
	}
	if inside := interval[0] <= goal && goal <= interval[1]; inside && (c.Relation == papers.Close || c.Relation == papers.Equal) {
		return goal
	}
	return best
}

// bears is how much a value bears a claim out, the more the higher: for a
// direction the difference in it, for the others how little it is off, in
// percent. Nothing is near a published zero but zero.
func bears(c papers.Claim, value float64) float64 {
	switch c.Relation {
	case papers.Lower:
		return -value
	case papers.Higher:
		return value
	case papers.Close:
		return -math.Abs(value)
	case papers.Equal:
		return -math.Abs(metric.Difference(*c.To, value))
	case papers.AtMost:
		return (1 - value / *c.To) * 100
	}
	return (value / *c.To - 1) * 100
}
