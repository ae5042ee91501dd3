package metric

import (
	"math"
	"slices"

	"aqmlab/reproduce/papers"
	"aqmlab/switch/aqm"
)

// Arithmetic is a kind of figure that code of the switch computes, without a run.
type Arithmetic struct {
	Name, Doc string
	Compute   func() (from, to float64) // of the baseline, if the claims have one, and of the scheme
}

// Arithmetics is the table of what claims may be about that takes no run.
func Arithmetics() []Arithmetic {
	return []Arithmetic{
		{"stamp-wrap", "time in which the lower 32 bits of ECN#'s time stamps on Tofino wrap, s", stampWrap},
		{"clock-wrap", "time in which ECN#'s clock of 32 bits on Tofino wraps, s", clockWrap},
		{"quotient", "pst_interval over the number of marks from ECN#'s table on Tofino, where it is farthest off the quotient, ticks", quotient},
	}
}

// ArithmeticOf finds the kind that a claim is about, if it takes no run.
func ArithmeticOf(c papers.Claim) (Arithmetic, bool) {
	all := Arithmetics()
	i := slices.IndexFunc(all, func(a Arithmetic) bool { return a.Name == c.Metric })
	if i < 0 {
		return Arithmetic{}, false
	}
	return all[i], true
}

// NeedsRuns tells whether a claim is judged by what was run.
func NeedsRuns(c papers.Claim) bool {
	_, ok := ArithmeticOf(c)
	return c.Unmeasured == "" && !ok
}

// Difference is that of b from a in percent; none when both are zero.
func Difference(a, b float64) float64 {
	if a == b {
		return 0
	}
	return (b/a - 1) * 100
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
		if off := math.Abs(Difference(exact, table)); off > farthest {
			from, to, farthest = exact, table, off
		}
	}
	return from, to
}
