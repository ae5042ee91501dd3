package compare

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/results"
)

// stretch is flows that follow each other in the pooled traces: from up to, and
// without, to.
type stretch struct{ from, to int }

// ranked is the FCT of the flow at a place in the pooled traces.
type ranked struct {
	at  int
	fct time.Duration
}

// tail finds the p99 of resamples. It looks at the slowest flows alone, a
// seventieth of all at first, and at more when a resample has too many of the
// others.
type tail struct {
	slowest []ranked // from the largest FCT down
	pooled  int      // flows of the pooled traces
	looked  int      // how many of the slowest are looked at
	ranks   []int32  // of these, by their places
	before  []int32  // how many of these stand before each place
	times   []int32  // how often each of these is in a resample; kept between them
}

func newTail(flows []ranked, pooled int) *tail {
	slices.SortFunc(flows, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.fct, a.fct), cmp.Compare(a.at, b.at))
	})
	t := &tail{slowest: flows, pooled: pooled}
	t.look(len(flows)/70 + 10)
	return t
}

// look sets how many of the slowest flows are looked at.
func (t *tail) look(n int) {
	t.looked = min(n, len(t.slowest))
	t.ranks, t.times = make([]int32, t.looked), make([]int32, t.looked)
	for i := range t.ranks {
		t.ranks[i] = int32(i)
	}
	slices.SortFunc(t.ranks, func(a, b int32) int { return cmp.Compare(t.slowest[a].at, t.slowest[b].at) })
	t.before = make([]int32, t.pooled+1)
	next := int32(0)
	for at := range t.before {
		for int(next) < t.looked && t.slowest[t.ranks[next]].at < at {
			next++
		}
		t.before[at] = next
	}
}

// p99 is the nearest-rank 99th percentile, in microseconds, of the n flows of a
// resample. It is zero for none.
func (t *tail) p99(drawn []stretch, n int64) float64 {
	beyond := n - int64(results.NearestRank(int(n), 0.99)) + 1
	for n > 0 {
		if us, ok := t.find(drawn, beyond); ok {
			return us
		}
		t.look(2 * t.looked)
	}
	return 0
}

// find is the FCT of the flow that so many of the resample are not faster than,
// itself included, if it is among those that are looked at.
func (t *tail) find(drawn []stretch, beyond int64) (us float64, ok bool) {
	clear(t.times)
	for _, d := range drawn {
		for _, rank := range t.ranks[t.before[d.from]:t.before[d.to]] {
			t.times[rank]++
		}
	}
	for rank, times := range t.times {
		if beyond -= int64(times); beyond <= 0 {
			return results.Microseconds(t.slowest[rank].fct), true
		}
	}
	return 0, false
}
