package reproduce

import (
	"math"
	"slices"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// overSeeds takes the mean of values, one a seed, and its interval by Student's t. Where
// all are the same, be it infinite, no chance moves them. Where some alone are infinite,
// there is no interval.
func overSeeds(values []float64, points []results.Point) record.Figure {
	e := results.EstimateOf(values)
	f := record.Figure{Value: record.Number(e.Mean), Seeds: e.Count}
	low, high, ok := e.Interval()
	switch same := e.Count > 1 && slices.Min(values) == slices.Max(values); {
	case same:
		f.CI95 = &[2]record.Number{record.Number(values[0]), record.Number(values[0])}
	case ok && !math.IsInf(e.Mean, 0):
		f.CI95 = &[2]record.Number{record.Number(low), record.Number(high)}
	}
	f.LowFidelity = slices.ContainsFunc(points, func(p results.Point) bool { return p.Fidelity.Label == results.FidelityLow })
	return f
}

// differenceInterval is the 95 % interval of the difference between two means in percent
// of the first, of pairs: one a seed. There is none of a single pair, nor where some
// differences alone are from or to what is infinite.
func differenceInterval(base, mine []float64) *[2]record.Number {
	if len(base) < 2 {
		return nil
	}
	first := metric.Difference(base[0], mine[0])
	same, finite := true, true
	for i := range base {
		same = same && metric.Difference(base[i], mine[i]) == first
		finite = finite && !math.IsInf(base[i], 0) && !math.IsInf(mine[i], 0)
	}
	switch {
	case same && !(finite && math.IsInf(first, 0)):
		return &[2]record.Number{record.Number(first), record.Number(first)}
	case finite:
		low, high := ratioInterval(base, mine)
		return &[2]record.Number{record.Number((low - 1) * 100), record.Number((high - 1) * 100)}
	}
	return nil
}

// ratioInterval is the smallest interval that holds the 95 % set of the ratio of two means
// by Fieller's theorem (E. C. Fieller, Some problems in interval estimation, Journal of the
// Royal Statistical Society B 16, 1954). A ratio q is in the set if the mean of
// mine - q base may be zero by Student's t. So a ratio of one is in it exactly if the
// two means may be equal, however near to zero the baseline's is: then the set reaches to
// infinity. Figures that are never below zero have no ratio below zero.
func ratioInterval(base, mine []float64) (low, high float64) {
	b, m := results.EstimateOf(base), results.EstimateOf(mine)
	together := 0.0
	for i := range base {
		together += (base[i] - b.Mean) * (mine[i] - m.Mean)
	}
	n := float64(len(base))
	t := results.Student(len(base)-1, 0.975)
	// The set is where square q^2 - 2 middle q + rest <= 0.
	square, middle, rest := b.Mean*b.Mean-b.Half*b.Half, b.Mean*m.Mean-t*t*together/(n-1)/n, m.Mean*m.Mean-m.Half*m.Half
	least := math.Inf(-1)
	if min(slices.Min(base), slices.Min(mine)) >= 0 {
		least = 0
	}
	under := middle*middle - square*rest
	one, other := (middle-math.Sqrt(max(0, under)))/square, (middle+math.Sqrt(max(0, under)))/square
	switch {
	case b.Mean == 0 && b.Half == 0 && rest > 0: // more than nothing
		return math.Inf(1), math.Inf(1)
	case square > 0: // between the roots
		return max(least, one), other
	case square < 0 && under >= 0 && other < least: // beyond the larger root
		return max(least, one), math.Inf(1)
	}
	return least, math.Inf(1)
}
