package compare

import "aqmlab/results"

// replayed is one trace as the baseline and another scheme replayed it, flow
// by flow in start order.
type replayed struct{ base, other results.Point }

// commonSeeds pairs the points of two schemes at one load by seed.
func commonSeeds(base, other []results.Point) []replayed {
	var common []replayed
	for _, b := range base {
		for _, o := range other {
			if b.Seed == o.Seed {
				common = append(common, replayed{b, o})
			}
		}
	}
	return common
}

// Statistic is what is compared within a load.
type Statistic struct {
	Class  results.Class
	Metric Metric
}

// Statistics lists what is compared. The p99 of the larger classes is left
// out: too few flows lie beyond it.
func Statistics() []Statistic {
	return []Statistic{{results.All, Mean}, {results.All, P99}, {results.Small, Mean}, {results.Small, P99}, {results.Medium, Mean}, {results.Large, Mean}}
}

// pairs holds the flows that completed under both schemes, laid out for
// resampling: a resample is a list of stretches of the pooled traces, whose sums
// follow from running ones, and whose p99 from the few flows at the tail. What a
// resample costs grows with the number of its blocks and with a small part of the
// flows, not with all of them.
type pairs struct {
	traces               []int // number of flows of each seed's trace
	small, medium, large running
	all99, small99       [2]*tail // under the baseline, and under the other
	drawn                []stretch
}

// stretch is flows that follow each other in the pooled traces: from up to, and
// without, to.
type stretch struct{ from, to int }

// sums adds up the FCTs of flows, in nanoseconds, so that it is exact.
type sums struct{ n, base, other int64 }

// running holds the sums of the flows before each place in the pooled traces, and
// of all.
type running []sums

func newPairs(common []replayed) *pairs {
	pooled := 0
	for _, r := range common {
		pooled += len(r.base.Flows)
	}
	p := &pairs{small: make(running, pooled+1), medium: make(running, pooled+1), large: make(running, pooled+1)}
	var all, small [2][]ranked
	at := 0
	for _, r := range common {
		p.traces = append(p.traces, len(r.base.Flows))
		for i, b := range r.base.Flows {
			o := r.other.Flows[i]
			both := b.Completed() && o.Completed()
			for _, c := range []struct {
				class results.Class
				run   running
			}{{results.Small, p.small}, {results.Medium, p.medium}, {results.Large, p.large}} {
				c.run[at+1] = c.run[at]
				if both && results.ClassOf(b.Bytes) == c.class {
					c.run[at+1] = c.run[at].plus(sums{1, int64(b.FCT), int64(o.FCT)})
				}
			}
			if both {
				all[0], all[1] = append(all[0], ranked{at, b.FCT}), append(all[1], ranked{at, o.FCT})
			}
			if both && results.ClassOf(b.Bytes) == results.Small {
				small[0], small[1] = append(small[0], ranked{at, b.FCT}), append(small[1], ranked{at, o.FCT})
			}
			at++
		}
	}
	for i := range 2 {
		p.all99[i], p.small99[i] = newTail(all[i], pooled), newTail(small[i], pooled)
	}
	return p
}

// value is a statistic under the baseline and under the other scheme, in
// microseconds.
type value struct{ base, other float64 }

// measure computes all statistics of a resample, in the order of statistics.
// A class that the resample has no flow of has zeros.
func (p *pairs) measure(drawn []stretch, into []value) {
	small, medium, large := p.small.over(drawn), p.medium.over(drawn), p.large.over(drawn)
	all := small.plus(medium).plus(large)
	into[0] = all.mean()
	into[1] = p99(p.all99, drawn, all.n)
	into[2] = small.mean()
	into[3] = p99(p.small99, drawn, small.n)
	into[4] = medium.mean()
	into[5] = large.mean()
}

func (r running) over(drawn []stretch) (s sums) {
	for _, d := range drawn {
		to, from := r[d.to], r[d.from]
		s = s.plus(sums{to.n - from.n, to.base - from.base, to.other - from.other})
	}
	return s
}

func (s sums) plus(o sums) sums { return sums{s.n + o.n, s.base + o.base, s.other + o.other} }

func (s sums) mean() value {
	if s.n == 0 {
		return value{}
	}
	return value{float64(s.base) / float64(s.n) / 1e3, float64(s.other) / float64(s.n) / 1e3}
}

func p99(tails [2]*tail, drawn []stretch, n int64) value {
	return value{tails[0].p99(drawn, n), tails[1].p99(drawn, n)}
}

// count is how many pairs of flows a class has.
func (p *pairs) count(c results.Class) int64 {
	last := len(p.small) - 1
	switch c {
	case results.Small:
		return p.small[last].n
	case results.Medium:
		return p.medium[last].n
	case results.Large:
		return p.large[last].n
	}
	return p.small[last].n + p.medium[last].n + p.large[last].n
}

// percent is the other's difference from the baseline in percent.
func (v value) percent() float64 { return (v.other/v.base - 1) * 100 }
