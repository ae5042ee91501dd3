package compare

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Intervals come from a paired bootstrap: a resample draws flows, with what
// they took under both schemes, so that what makes a flow slow under any
// scheme (its size, the crowd it met) cancels out.
//
// Flows that are near in time share queues and depend on each other, so a
// resample draws blocks of flows that follow each other in start order: a
// circular moving-block bootstrap (Künsch, Annals of Statistics 17, 1989;
// wrapped around so that every flow is drawn equally often: Politis and
// Romano, 1992). A block has to outlast the dependence, and a large flow
// overlaps some tens of starts. Blocks of n^(1/3), the optimal order for
// estimating a variance (Hall, Horowitz and Jing, Biometrika 82, 1995), are 17
// of 5,000 flows: where congestion reaches over 30 starts they find a
// difference that is not there in a quarter of the cases. Blocks of 2 sqrt(n)
// do in about a tenth then, and in about 5 % when it reaches over 10 or fewer.
//
// Such long blocks are few (35 of 5,000 flows), which makes percentile
// intervals too narrow. The expanded percentile interval mends that: the tails
// are those of Student's t (Hesterberg, The American Statistician 69, 2015).
//
// With several seeds, seeds are drawn with replacement first, then blocks
// within each (Davison and Hinkley, Bootstrap Methods, 1997, section 3.8).
// When seeds differ no more than chance lets them, that makes intervals wider
// than needed, by up to a factor of sqrt(2).
const (
	resamples = 2000
	minPairs  = 10 // of flows in a class, for a verdict
)

// blockLength is how many flows of a trace of n are drawn together.
func blockLength(n int) int { return max(1, int(math.Round(2*math.Sqrt(float64(n))))) }

// blocks is how many independent draws a resample amounts to.
func (p *pairs) blocks() (m float64) {
	for _, n := range p.traces {
		m += float64(n) / float64(blockLength(n))
	}
	return m
}

// rowsOf compares the statistics of pairs. Same says that both schemes are the
// baseline, which has values and no intervals.
func rowsOf(traces [][]pair, stats []Statistic, same bool) []Row {
	p := newPairs(traces, stats)
	point := make([]value, len(stats))
	p.measure([]stretch{{0, p.pooled()}}, point)
	counts := make([]int, len(stats))
	for i, s := range stats {
		counts[i] = int(p.sum(s.Class).n)
	}
	var spread [][]float64
	if !same {
		spread = p.resample()
	}
	var rows []Row
	for i, s := range stats {
		if counts[i] == 0 {
			continue
		}
		r := Row{
			Class: s.Class, Metric: s.Metric,
			Value: point[i].other, Normalized: point[i].other / point[i].base, Difference: point[i].percent(),
			Verdict: NoDifference,
		}
		if spread != nil {
			r.CI95 = interval(spread[i], p.blocks())
			r.Verdict = judge(r.CI95, counts[i])
		}
		rows = append(rows, r)
	}
	return rows
}

func (p *pairs) pooled() (n int) {
	for _, t := range p.traces {
		n += t
	}
	return n
}

// resample returns, for each statistic, the differences in percent that the
// resamples show, ascending. A resample without a flow of the class is left
// out. The draw is the same whenever the traces have the same lengths.
func (p *pairs) resample() [][]float64 {
	rng := rand.New(rand.NewPCG(0x61716d6c6162, 95)) // any constant
	drawn := make([]value, len(p.stats))
	spread := make([][]float64, len(drawn))
	for range resamples {
		p.measure(p.draw(rng), drawn)
		for i, v := range drawn {
			if v.base > 0 {
				spread[i] = append(spread[i], v.percent())
			}
		}
	}
	for _, s := range spread {
		slices.Sort(s)
	}
	return spread
}

// draw draws one resample, which is good until the next.
func (p *pairs) draw(rng *rand.Rand) []stretch {
	p.drawn = p.drawn[:0]
	for range p.traces {
		t := rng.IntN(len(p.traces))
		from := 0
		for _, n := range p.traces[:t] {
			from += n
		}
		p.drawn = drawBlocks(rng, p.drawn, stretch{from, from + p.traces[t]})
	}
	return p.drawn
}

// drawBlocks adds as many flows as the trace has, the last block cut short. A
// block that reaches over the trace's end goes on at its begin.
func drawBlocks(rng *rand.Rand, drawn []stretch, trace stretch) []stretch {
	n := trace.to - trace.from
	for left := n; left > 0; {
		block := min(blockLength(n), left)
		at := rng.IntN(n)
		drawn = append(drawn, stretch{trace.from + at, trace.from + min(at+block, n)})
		if over := at + block - n; over > 0 {
			drawn = append(drawn, stretch{trace.from, trace.from + over})
		}
		left -= block
	}
	return drawn
}

// interval takes the middle 95 % of ascending values, or as much more as m
// blocks call for.
func interval(ascending []float64, m float64) [2]float64 {
	n := len(ascending)
	if n == 0 {
		return [2]float64{}
	}
	cut := max(int(math.Round(tailShare(m)*float64(n))), 1)
	return [2]float64{ascending[cut-1], ascending[n-cut]}
}

// tailShare is the share of resamples beyond either end of the expanded
// percentile interval: Phi(-sqrt(m/(m-1)) t), where t is the 97.5 % quantile
// of Student's t with m-1 degrees of freedom, taken from its Cornish-Fisher
// expansion. It is at most 2.5 %, which it tends to as m grows.
func tailShare(m float64) float64 {
	const z = 1.959963985 // 97.5 % quantile of the normal distribution
	df := max(m-1, 1)
	t := z + (z*z*z+z)/(4*df) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*df*df)
	return math.Erfc(t*math.Sqrt((df+1)/df)/math.Sqrt2) / 2
}

// judge reads a verdict off an interval that rests on n pairs.
func judge(ci [2]float64, n int) Verdict {
	switch {
	case n < minPairs:
		return NoDifference
	case ci[1] < 0:
		return Better
	case ci[0] > 0:
		return Worse
	}
	return NoDifference
}
