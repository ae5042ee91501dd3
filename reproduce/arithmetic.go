package reproduce

import (
	"math"
	"slices"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
	"aqmlab/switch/aqm"
)

// Computed is the column of claims about arithmetic, which no run is needed for.
const Computed orchestrator.Runtime = "computed"

// kindOfArithmetic computes a claim's figure from code of the switch alone.
type kindOfArithmetic struct {
	name, doc string
	of        func() (from, to float64) // of the baseline, if the claims have one, and of the scheme
}

// arithmetic is the table of what claims may be about that takes no run.
func arithmetic() []kindOfArithmetic {
	return []kindOfArithmetic{
		{"stamp-wrap", "time in which the lower 32 bits of ECN#'s time stamps on Tofino wrap, s", stampWrap},
		{"clock-wrap", "time in which ECN#'s clock of 32 bits on Tofino wraps, s", clockWrap},
		{"quotient", "pst_interval over the number of marks from ECN#'s table on Tofino, where it is farthest off the quotient, ticks", quotient},
	}
}

// arithmeticOf finds the row of a claim.
func arithmeticOf(c papers.Claim) (kindOfArithmetic, bool) {
	all := arithmetic()
	i := slices.IndexFunc(all, func(a kindOfArithmetic) bool { return a.name == c.Metric })
	if i < 0 {
		return kindOfArithmetic{}, false
	}
	return all[i], true
}

// needsRuns tells whether a claim is judged by what was run.
func needsRuns(c papers.Claim) bool {
	_, ok := arithmeticOf(c)
	return c.Unmeasured == "" && !ok
}

// figure is what the card shows for a claim.
func (a kindOfArithmetic) figure(c papers.Claim) Figure {
	from, to := a.of()
	f := Figure{Value: to, From: from, To: to, Scheme: c.Scheme}
	if c.Relation.Relative() {
		f.Value = difference(from, to)
	}
	return f
}

func stampWrap() (from, to float64) {
	stamp, _ := aqm.TofinoClockWraps()
	return 0, stamp.Seconds()
}

func clockWrap() (from, to float64) {
	_, whole := aqm.TofinoClockWraps()
	return 0, whole.Seconds()
}

// The table is drawn for this interval, in ticks, up to so many marks (ECN#, Fig.
// 6). A claim about all of these is judged at what bears it out least.
const (
	drawnInterval = 1000
	drawnMarks    = 400
)

func quotient() (from, to float64) {
	farthest := -1.0
	for marks := range uint32(drawnMarks) {
		exact, table := drawnInterval/float64(marks+1), float64(aqm.TofinoQuotient(drawnInterval, marks+1))
		if off := math.Abs(difference(exact, table)); off > farthest {
			from, to, farthest = exact, table, off
		}
	}
	return from, to
}
