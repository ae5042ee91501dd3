package sched

import (
	"slices"
	"strings"
	"testing"
)

// TestWFQByHand follows the finish tags of both rules. Queue 0 has weight 1,
// queue 1 weight 2.
func TestWFQByHand(t *testing.T) {
	for rule, want := range map[string][]int{
		// Tags 1000, 2000, 3000 and 1000, 2000 (2000/2 each): ties to queue 0.
		"self-clocked": {0, 1, 0, 1, 0},
		// Queue 0 gets 1000 and sets V, so queue 1 starts behind: 2000, 3000.
		"kernel": {0, 0, 1, 0, 1},
	} {
		r := newRig(t, 2, "wfq", map[string]any{"weights": []int{1, 2}, "virtual_time": rule})
		r.push(0, 1000, 1000, 1000)
		r.push(1, 2000, 2000)
		if got := r.drain(); !slices.Equal(got, want) {
			t.Errorf("%s: served %v, want %v", rule, got, want)
		}
	}
}

// TestWFQLateComer: a queue that was idle gets no credit for it: it starts at
// the tag of the packet in service.
func TestWFQLateComer(t *testing.T) {
	r := newRig(t, 2, "wfq", nil)
	r.push(0, 1000, 1000, 1000, 1000)
	r.pop()
	r.pop()                   // V = 2000; the head of queue 0 has 3000
	r.push(1, 1000, 1000)     // 3000, 4000
	want := []int{0, 1, 0, 1} // ties to the lower queue
	if got := r.drain(); !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

// TestWFQKernelClock: with the rule of the TCN module V is the largest tag given so far, so
// it does not fall back with the smaller tags of a queue of large weight. Queue 1 has tags
// 100, 200 and 300, queue 0 has 10100; queue 2 begins behind that.
func TestWFQKernelClock(t *testing.T) {
	r := newRig(t, 3, "wfq", map[string]any{"weights": []int{1, 10, 10}, "virtual_time": "kernel"})
	r.push(1, 1000, 1000, 1000)
	r.push(0, 10000)
	if got := r.pop(); got != 1 {
		t.Fatalf("served queue %d, want 1", got)
	}
	r.push(2, 1000)
	if got, want := r.drain(), []int{1, 1, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

// TestServiceDoesNotDrift: three packets of a byte take what one of three bytes takes,
// though a third of a byte is no whole number of units.
func TestServiceDoesNotDrift(t *testing.T) {
	c := newVirtualClock([]int{3, 7})
	for q, w := range []int{3, 7} {
		var total uint64
		for range 1000 * w {
			total += c.service(q, 1)
		}
		if want := uint64(1000) << virtualBits; total != want {
			t.Errorf("weight %d: %d, want %d", w, total, want)
		}
	}
}

// TestWFQWrapsAround: the order survives the end of the range of the tags.
func TestWFQWrapsAround(t *testing.T) {
	for _, rule := range []string{"self-clocked", "kernel"} {
		params := map[string]any{"weights": []int{1, 3}, "virtual_time": rule}
		fresh, old := newRig(t, 2, "wfq", params), newRig(t, 2, "wfq", params)
		old.s.(*wfq).virtual -= 2500 << virtualBits
		for range 5 {
			for _, r := range []*rig{fresh, old} {
				r.push(0, 700, 800)
				r.push(1, 1500, 1500, 40)
			}
			if got, want := old.drain(), fresh.drain(); !slices.Equal(got, want) {
				t.Errorf("%s: served %v, want %v", rule, got, want)
			}
		}
	}
}

func TestWFQBadParameters(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"virtual_time": {"virtual_time": "gps"},
		"weights":      {"weights": []int{1}},
	} {
		if _, err := Table().New("wfq", params, Env{Queues: 2}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v does not name %s", params, err, name)
		}
	}
}
