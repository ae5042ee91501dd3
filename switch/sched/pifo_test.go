package sched

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSTFQByHand: queue 0 has weight 1, queue 1 weight 2. Start tags 0, 1000,
// 2000 and 0, 1000, 2000, equal ones in the order of arrival.
func TestSTFQByHand(t *testing.T) {
	r := newRig(t, 2, "pifo", map[string]any{"weights": []int{1, 2}})
	r.push(1, 2000)
	r.push(0, 1000, 1000, 1000)
	r.push(1, 2000, 2000)
	if got, want := r.drain(), []int{1, 0, 0, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	// Queue 0 finishes at 3000, queue 1 too; V is 2000. A queue that sent its
	// last long ago does not catch up.
	r.push(0, 500, 500)
	r.push(1, 3000)
	r.push(0, 500)
	if got, want := r.drain(), []int{0, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("after an idle time: served %v, want %v", got, want)
	}
}

// TestSTFQLongIdle: a queue that was idle while the tags wrapped around starts
// with the others, neither before nor after them.
func TestSTFQLongIdle(t *testing.T) {
	s := newSTFQ([]int{1, 1}, 2)
	s.rank(0, 1, 1500)
	for range 40 {
		s.finish[0] += 1 << 59 // as if queue 0 had sent this much alone
		s.served(s.finish[0])
		if got := s.rank(0, 0, 0); got != s.virtual {
			t.Fatalf("queue 0 starts at %x, V is %x", got, s.virtual)
		}
	}
	if got := s.rank(0, 1, 1500); got != s.virtual {
		t.Errorf("the idle queue starts at %x, V is %x", got, s.virtual)
	}
}

// TestLSTF: the packet whose arrival plus slack is the earliest leaves next.
func TestLSTF(t *testing.T) {
	slacks := []time.Duration{10 * time.Millisecond, 0, time.Millisecond}
	r := newRig(t, 3, "pifo", map[string]any{"rank": "lstf", "slacks": []any{"10ms", "0s", "1ms"}})
	type arrival struct{ at, deadline time.Duration }
	rng := rand.New(rand.NewPCG(2, 7))
	waiting := make([][]arrival, 3)
	for range 20000 {
		r.now += time.Duration(rng.IntN(int(time.Millisecond)))
		q := rng.IntN(3)
		r.push(q, 1000)
		waiting[q] = append(waiting[q], arrival{r.now, r.now + slacks[q]})
		if rng.IntN(4) > 0 {
			r.popEarliest(t, func(a int) time.Duration { return waiting[a][0].deadline }, func(a int) { waiting[a] = waiting[a][1:] })
		}
	}
}

// popEarliest pops one packet, which must be of the smallest deadline.
func (r *rig) popEarliest(t *testing.T, deadline func(q int) time.Duration, pop func(q int)) {
	t.Helper()
	q, ok := r.s.Next(r.now)
	if !ok {
		return
	}
	for other, sizes := range r.queues {
		if len(sizes) > 0 && deadline(other) < deadline(q) {
			t.Fatalf("served queue %d of deadline %v before queue %d of %v", q, deadline(q), other, deadline(other))
		}
	}
	r.pop()
	pop(q)
}

// TestSRPTIsByClass: the lower queue first, whatever came earlier.
func TestSRPTIsByClass(t *testing.T) {
	r := newRig(t, 3, "pifo", map[string]any{"rank": "srpt"})
	r.push(2, 100, 100)
	r.push(0, 100)
	r.push(1, 100, 100)
	if q := r.pop(); q != 0 {
		t.Fatalf("served %d first", q)
	}
	r.push(0, 100)
	if got, want := r.drain(), []int{0, 1, 1, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

func TestPIFOBadParameters(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"rank: unknown":        {"rank": "edf"},
		"weights: 1":           {"weights": []int{1}},
		"weights: lstf":        {"rank": "lstf", "weights": []int{1, 1}, "slacks": []any{"1ms", "1ms"}},
		"slacks: stfq":         {"slacks": []any{"1ms", "1ms"}},
		"slacks: 0":            {"rank": "lstf"},
		"slacks: [1]: -1ms is": {"rank": "lstf", "slacks": []any{"1ms", "-1ms"}},
	} {
		if _, err := Table().New("pifo", params, Env{Queues: 2}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v does not say %q", params, err, name)
		}
	}
}

// TestSTFQLateComer: a queue that was idle starts at the start tag of the packet that was
// served last (Goyal, Vin and Cheng), so it gets no credit for its idle time.
func TestSTFQLateComer(t *testing.T) {
	r := newRig(t, 2, "pifo", nil)
	r.push(0, 1000, 1000, 1000)
	r.drain()                   // the virtual time is 2000
	r.push(1, 1000, 1000, 1000) // 2000, 3000, 4000
	r.push(0, 1000)             // 3000, later than that of queue 1
	if got, want := r.drain(), []int{1, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}
