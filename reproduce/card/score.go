// Package card judges the claims of papers by what records have of them, and
// shows claims and figures: as text, as JSON, and as the page beside the records.
package card

import (
	"errors"
	"math"
	"slices"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// Score is a claim, and how it fared.
type Score struct {
	Paper      string
	Experiment papers.Experiment
	Claim      papers.Claim
	// Columns has what was measured, by runtime.
	Columns map[orchestrator.Runtime]Figure
	// Tops has, for a claim with a range, the figures that support it most.
	Tops map[orchestrator.Runtime]Figure
	Outcome
}

// Outcome is how a claim fared.
type Outcome struct {
	Verdict Verdict `json:"verdict"`
	// By is the runtime that the verdict is of: one of the paper's own environment,
	// or else the other; for a claim about arithmetic [Computed]. Empty when there
	// is no figure.
	By orchestrator.Runtime `json:"verdict_by,omitempty"`
	// Chance is set when the interval of a difference holds zero, so that its
	// direction may be chance.
	Chance bool `json:"may_be_chance"`
	// Unsettled is set for a claim that is not reproduced, when the interval holds
	// values with which it would be: more flows or seeds may change the verdict.
	Unsettled bool `json:"unsettled"`
	// Established is the stricter verdict: the claim is reproduced, on both sides near the
	// number that the paper gives, and not by chance.
	Established bool      `json:"established"`
	Shortfall   Shortfall `json:"shortfall,omitempty"` // what keeps it from being established
	Reason      string    `json:"reason,omitempty"`    // why it was not run, or cannot be
}

// Figure is what a record has of a claim.
type Figure struct {
	record.Figure
	Stale bool // the lab, or what the claim is about, has changed since
}

// Computed is the column of claims about arithmetic, which no run is needed for.
const Computed orchestrator.Runtime = "computed"

// Runtimes lists those that have a column: that of modelled hosts, and then those of
// [testbeds].
func Runtimes() []orchestrator.Runtime {
	return append([]orchestrator.Runtime{orchestrator.Simulator()}, testbeds()...)
}

// testbeds are the runtimes of real hosts, those first whose verdict counts: time
// that is virtual has no lateness.
func testbeds() []orchestrator.Runtime {
	return slices.Concat(
		orchestrator.RuntimesWith(func(f backend.Facts) bool { return !f.Modelled && f.Virtual }),
		orchestrator.RuntimesWith(func(f backend.Facts) bool { return !f.Modelled && !f.Virtual }),
	)
}

// ScoreClaim judges a claim by all that a record has of it.
func ScoreClaim(paper string, e papers.Experiment, c papers.Claim, figures []Figure) Score {
	s := Score{Paper: paper, Experiment: e, Claim: c, Columns: make(map[orchestrator.Runtime]Figure), Tops: make(map[orchestrator.Runtime]Figure), Outcome: Outcome{Verdict: NotRun, Reason: c.Unmeasured}}
	kind, _ := metric.Find(c.Metric)
	switch {
	case c.Unmeasured != "" && (e.Environment == papers.Input || e.Environment == papers.Hardware):
		s.Verdict = Described // what the paper only describes cannot be run here
	case c.Unmeasured != "":
	case kind.Arithmetic != nil:
		s.Columns[Computed] = computed(kind, c)
	default:
		s.Reason = metric.ErrNotRun.Error()
		for _, runtime := range Runtimes() {
			f, err := chooseFigure(c, runtime, figures)
			switch {
			case err == nil:
				s.Columns[runtime] = f
				if c.PercentMax != 0 {
					top := c
					top.Over = papers.Best
					s.Tops[runtime], _ = chooseFigure(top, runtime, figures) // there is one
				}
			case !errors.Is(err, metric.ErrNotRun): // what was run says more than what was not
				s.Reason = err.Error()
			}
		}
	}
	s.judge()
	return s
}

// computed is the figure of a claim about arithmetic.
func computed(k metric.Kind, c papers.Claim) Figure {
	from, to := k.Arithmetic()
	value := to
	if c.Relation.Relative() {
		value = metric.Difference(from, to)
	}
	return Figure{Figure: record.Figure{Value: record.Number(value), From: record.Number(from), To: record.Number(to), Scheme: c.Scheme}}
}

// chooseFigure takes, of all schemes and loads that a claim is about, the one that
// supports it least, or most where it says "up to". Figures from before the lab was
// changed count only where there are no others.
func chooseFigure(c papers.Claim, runtime orchestrator.Runtime, figures []Figure) (Figure, error) {
	var chosen *Figure
	why := metric.ErrNotRun
	for _, f := range figures {
		switch {
		case f.Runtime != string(runtime) || !c.About(f.Load) || !slices.Contains(c.Schemes(), f.Scheme):
		case f.Nothing != "" && !f.Stale:
			why = errors.New(f.Nothing)
		case f.Nothing != "":
		case chosen == nil || chosen.Stale && !f.Stale:
			chosen = &f
		case chosen.Stale == f.Stale:
			if more := support(c, float64(f.Value)) > support(c, float64(chosen.Value)); more == (c.Over == papers.Best) {
				chosen = &f
			}
		}
	}
	if chosen == nil {
		return Figure{}, why
	}
	return *chosen, nil
}

// Testbed is the runtime of real hosts that the score is of, if there is one: the
// first whose figure is of the lab as it is.
func (s Score) Testbed() (orchestrator.Runtime, bool) {
	for _, stale := range []bool{false, true} {
		for _, r := range testbeds() {
			if f, ok := s.Columns[r]; ok && f.Stale == stale {
				return r, true
			}
		}
	}
	return "", false
}

// judge scores the column of the paper's own environment, or else the other.
func (s *Score) judge() {
	real, _ := s.Testbed()
	columns := []orchestrator.Runtime{Computed, orchestrator.Simulator(), real}
	if s.Experiment.Environment == papers.Testbed {
		columns = []orchestrator.Runtime{Computed, real, orchestrator.Simulator()}
	}
	i := slices.IndexFunc(columns, func(r orchestrator.Runtime) bool {
		f, ok := s.Columns[r]
		return ok && !f.Stale
	})
	if i < 0 {
		if len(s.Columns) > 0 {
			s.Reason = "the lab has changed since it was measured"
		}
		if s.Verdict == NotRun {
			s.Shortfall = NoFigure
		}
		return
	}
	s.By = columns[i]
	f := s.Columns[s.By]
	s.Verdict, s.Reason = judge(s.Claim, float64(f.Value)), ""
	s.Shortfall = s.shortfall(f)
	s.Established = s.Shortfall == none
	if f.CI95 == nil {
		return
	}
	low, high := float64(f.CI95[0]), float64(f.CI95[1])
	directed := s.Claim.Relation == papers.Lower || s.Claim.Relation == papers.Higher
	s.Chance = directed && low <= 0 && high >= 0
	s.Unsettled = s.Verdict != Reproduced && judge(s.Claim, mostFavourable(s.Claim, low, high)) == Reproduced
}

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
	margin := without(support(c, value))
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
