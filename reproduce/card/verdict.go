package card

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
	margin := math.Round(support(c, value)*1e9) / 1e9 // without what binary fractions add
	full, direction := false, false
	switch c.Relation {
	case papers.Lower, papers.Higher:
		full, direction = margin > 0 && margin >= c.Percent-tolerance, margin > 0
	case papers.Close:
		full = margin >= -c.Percent-tolerance
	case papers.Equal:
		full = margin >= -tolerance
	case papers.AtLeast, papers.AtMost:
		full, direction = margin >= 0, margin >= -tolerance
	}
	switch {
	case full:
		return Reproduced
	case direction:
		return DirectionOnly
	}
	return NotReproduced
}

// mostFavourable is the value of an interval that supports a claim most.
func mostFavourable(c papers.Claim, low, high float64) float64 {
	goal := 0.0 // of what is to be close to a baseline
	if c.Relation == papers.Equal {
		goal = *c.To
	}
	switch inside := low <= goal && goal <= high; {
	case inside && (c.Relation == papers.Close || c.Relation == papers.Equal):
		return goal
	case support(c, high) > support(c, low):
		return high
	}
	return low
}

// support is how much a value supports a claim, the more the higher: for a
// direction the difference in it, for the others how little it is off, in
// percent. Nothing is near a published zero but zero.
func support(c papers.Claim, value float64) float64 {
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
