package compare

import (
	"slices"
	"time"

	"aqmlab/results"
)

// pair is what a flow, or a query, took under two schemes.
type pair struct {
	class results.Class    // other than All
	both  bool             // it completed under both
	took  [2]time.Duration // under the baseline, and under the other
}

// flowPairs pairs the flows of a trace, in the order of their starts.
func flowPairs(r replayed) []pair {
	all := make([]pair, len(r.base.Flows))
	for i, b := range r.base.Flows {
		o := r.other.Flows[i]
		all[i] = pair{results.ClassOf(b.Bytes), b.Completed() && o.Completed(), [2]time.Duration{b.FCT, o.FCT}}
	}
	return all
}

// queryPairs pairs the queries of a trace: neighbouring queries may depend on each
// other just as well as flows. Records that know of no queries have no pairs.
func queryPairs(r replayed) []pair {
	base, other := results.QueriesOf(r.base.Flows), results.QueriesOf(r.other.Flows)
	if len(base) != len(other) {
		return nil
	}
	all := make([]pair, len(base))
	for i, b := range base {
		all[i] = pair{results.Queries, b.Complete && other[i].Complete, [2]time.Duration{b.QCT, other[i].QCT}}
	}
	return all
}

// pairs holds the pairs of some traces, laid out for resampling: a resample is a
// list of stretches of the pooled traces, whose sums follow from running ones, and
// whose p99 from the few pairs at the tail. What a resample costs grows with the
// number of its blocks and with a small part of the pairs, not with all of them.
type pairs struct {
	stats   []Statistic // of them
	traces  []int       // number of pairs of each seed's trace
	classes []results.Class
	running [][]sums                   // by class: of the pairs before each place in the pooled traces, and of all
	tails   map[results.Class][2]*tail // of the classes whose p99 is asked for: under the baseline, and under the other
	drawn   []stretch                  // the last resample
	added   []sums                     // by class: of the last resample
}

// sums adds up what completed pairs took, in nanoseconds, so that it is exact.
type sums struct{ n, base, other int64 }

func newPairs(traces [][]pair, stats []Statistic) *pairs {
	p := &pairs{stats: stats, tails: make(map[results.Class][2]*tail)}
	pooled := slices.Concat(traces...)
	for _, t := range traces {
		p.traces = append(p.traces, len(t))
	}
	for _, s := range stats {
		if s.Class != results.All && !slices.Contains(p.classes, s.Class) {
			p.classes = append(p.classes, s.Class)
			p.running = append(p.running, runningSums(pooled, s.Class))
		}
		if s.Metric == P99 {
			p.tails[s.Class] = tailsOf(pooled, s.Class)
		}
	}
	p.added = make([]sums, len(p.classes))
	return p
}

func runningSums(pooled []pair, c results.Class) []sums {
	running := make([]sums, len(pooled)+1)
	for at, q := range pooled {
		running[at+1] = running[at]
		if q.both && q.class == c {
			running[at+1] = running[at].plus(sums{1, int64(q.took[0]), int64(q.took[1])})
		}
	}
	return running
}

func tailsOf(pooled []pair, c results.Class) (tails [2]*tail) {
	for scheme := range tails {
		var completed []ranked
		for at, q := range pooled {
			if q.both && (c == results.All || q.class == c) {
				completed = append(completed, ranked{at, q.took[scheme]})
			}
		}
		tails[scheme] = newTail(completed, len(pooled))
	}
	return tails
}

// value is a statistic under the baseline and under the other scheme, in
// microseconds.
type value struct{ base, other float64 }

// percent is the other's difference from the baseline in percent.
func (v value) percent() float64 { return (v.other/v.base - 1) * 100 }

// measure computes the statistics of a resample. One of a class of which the
// resample has no pair is zero.
func (p *pairs) measure(drawn []stretch, into []value) {
	p.add(drawn)
	for i, s := range p.stats {
		sum := p.sum(s.Class)
		switch {
		case sum.n == 0:
			into[i] = value{}
		case s.Metric == P99:
			tails := p.tails[s.Class]
			into[i] = value{tails[0].p99(drawn, sum.n), tails[1].p99(drawn, sum.n)}
		default:
			into[i] = value{float64(sum.base) / float64(sum.n) / 1e3, float64(sum.other) / float64(sum.n) / 1e3}
		}
	}
}

// add adds up the pairs of each class in a resample, for sum.
func (p *pairs) add(drawn []stretch) {
	for i, running := range p.running {
		var all sums
		for _, d := range drawn {
			to, from := running[d.to], running[d.from]
			all = all.plus(sums{to.n - from.n, to.base - from.base, to.other - from.other})
		}
		p.added[i] = all
	}
}

// sum is of the pairs of a class in the resample that was added up last.
func (p *pairs) sum(class results.Class) (all sums) {
	for i, c := range p.classes {
		if class == results.All || class == c {
			all = all.plus(p.added[i])
		}
	}
	return all
}

func (s sums) plus(o sums) sums { return sums{s.n + o.n, s.base + o.base, s.other + o.other} }
