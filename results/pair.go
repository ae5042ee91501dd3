package results

import (
	"cmp"
	"slices"
)

// replayed is one trace as the baseline and another scheme replayed it, flow
// by flow in start order.
type replayed struct{ base, other Point }

// commonSeeds pairs the points of two schemes at one load by seed.
func commonSeeds(base, other []Point) []replayed {
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

// statistic is what is compared within a load.
type statistic struct {
	class  Class
	metric Metric
}

// statistics lists what is compared. The p99 of the larger classes is left
// out: too few flows lie beyond it.
func statistics() []statistic {
	return []statistic{{All, Mean}, {All, P99}, {Small, Mean}, {Small, P99}, {Medium, Mean}, {Large, Mean}}
}

// pairs holds the flows that completed under both schemes, laid out for
// resampling: a resample is a weight for every flow of the pooled traces, and
// every statistic is computed from the weights without sorting anything anew.
type pairs struct {
	traces  []int // number of flows of each seed's trace
	classes map[Class]*members
}

// members are the pairs of one class.
type members struct {
	at          []int32 // position of each pair in the pooled traces
	base, other []float64
	baseTail    tail
	otherTail   tail
}

// tail lists FCTs from the largest down.
type tail []ranked

// ranked is the FCT in microseconds of the flow at a position.
type ranked struct {
	at int32
	us float64
}

func newPairs(common []replayed) *pairs {
	p := &pairs{classes: make(map[Class]*members)}
	for _, c := range Classes() {
		p.classes[c] = &members{}
	}
	pooled := 0
	for _, r := range common {
		p.traces = append(p.traces, len(r.base.Flows))
		for i, b := range r.base.Flows {
			if o := r.other.Flows[i]; b.Completed() && o.Completed() {
				p.classes[All].add(pooled+i, b, o)
				p.classes[ClassOf(b.Bytes)].add(pooled+i, b, o)
			}
		}
		pooled += len(r.base.Flows)
	}
	for _, c := range []Class{All, Small} {
		m := p.classes[c]
		m.baseTail, m.otherTail = tailOf(m.at, m.base), tailOf(m.at, m.other)
	}
	return p
}

func (m *members) add(at int, base, other Flow) {
	m.at = append(m.at, int32(at))
	m.base = append(m.base, micros(base.FCT))
	m.other = append(m.other, micros(other.FCT))
}

func tailOf(at []int32, us []float64) tail {
	t := make(tail, len(at))
	for i := range at {
		t[i] = ranked{at[i], us[i]}
	}
	slices.SortStableFunc(t, func(a, b ranked) int { return cmp.Compare(b.us, a.us) })
	return t
}

// p99 is the nearest-rank 99th percentile of n weighted FCTs. It looks at the
// hundredth of them that lies beyond.
func (t tail) p99(weight []float64, n float64) float64 {
	beyond := n - float64(nearestRank(int(n), 0.99)) + 1
	for _, f := range t {
		if beyond -= weight[f.at]; beyond <= 0 {
			return f.us
		}
	}
	return 0
}

// value is a statistic under the baseline and under the other scheme.
type value struct{ base, other float64 }

// measure computes all statistics of a resample, in the order of statistics.
// A class that the resample has no flow of has zeros.
func (p *pairs) measure(weight []float64, into []value) {
	small, medium, large := p.classes[Small].sum(weight), p.classes[Medium].sum(weight), p.classes[Large].sum(weight)
	all := sums{small.n + medium.n + large.n, small.base + medium.base + large.base, small.other + medium.other + large.other}
	into[0] = all.mean()
	into[1] = p.classes[All].p99(weight, all.n)
	into[2] = small.mean()
	into[3] = p.classes[Small].p99(weight, small.n)
	into[4] = medium.mean()
	into[5] = large.mean()
}

// sums adds up weighted FCTs.
type sums struct{ n, base, other float64 }

func (m *members) sum(weight []float64) (s sums) {
	for i, at := range m.at {
		w := weight[at]
		s.n += w
		s.base += w * m.base[i]
		s.other += w * m.other[i]
	}
	return s
}

func (s sums) mean() value {
	if s.n == 0 {
		return value{}
	}
	return value{s.base / s.n, s.other / s.n}
}

func (m *members) p99(weight []float64, n float64) value {
	return value{m.baseTail.p99(weight, n), m.otherTail.p99(weight, n)}
}

// percent is the other's difference from the baseline in percent.
func (v value) percent() float64 { return (v.other/v.base - 1) * 100 }
