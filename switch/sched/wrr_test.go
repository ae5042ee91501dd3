package sched

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
)

// TestWRRForgetsTheRest is the example of DWRR with quanta 1500 and 3000, but
// no turn inherits what an earlier one left.
func TestWRRForgetsTheRest(t *testing.T) {
	r := newRig(t, 3, "wrr", map[string]any{"weights": []int{1, 2, 1}})
	r.push(0, 1000, 1000, 1000, 1000)
	r.push(1, 1500, 1500, 1500)
	r.push(2, 600)
	want := []int{0, 1, 1, 2, 0, 1, 0, 0} // queue 0: one packet a round
	if got := r.drain(); !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

// TestWRRShares: packets of the quantum's size use all of it; a queue whose
// packets leave a rest loses that.
func TestWRRShares(t *testing.T) {
	r := newRig(t, 3, "wrr", map[string]any{"weights": []int{1, 3, 1}})
	sizes, sent := []int{1500, 1500, 1000}, make([]int, 3)
	for q, size := range sizes {
		r.push(q, size)
	}
	const rounds = 1000
	for range rounds * 5 {
		q, _ := r.s.Next(0)
		r.push(q, sizes[q])
		r.pop()
		sent[q] += sizes[q]
	}
	if want := []int{rounds * 1500, rounds * 4500, rounds * 1000}; !slices.Equal(sent, want) {
		t.Errorf("sent %v, want %v", sent, want)
	}
}

// TestWRRUsesTheQuantum: a turn sends at most the quantum, and what of it the
// next packet fits into (MQ-ECN, section 3.3.2), so that over M backlogged rounds
// a queue is within M packets of M quanta, and never above.
func TestWRRUsesTheQuantum(t *testing.T) {
	sent := make([]int, 8)
	var r *rig
	ended := func(_ time.Duration, q int, emptied bool) {
		if sent[q] > 3000 {
			t.Errorf("queue %d sent %d bytes in a turn", q, sent[q])
		}
		if next := r.HeadSize(q); !emptied && sent[q]+next <= 3000 {
			t.Errorf("queue %d sent %d bytes in a turn, and not the next %d", q, sent[q], next)
		}
		sent[q] = 0
	}
	r = newRigTold(t, 8, kind.Choice{Kind: "wrr", Params: map[string]any{"quantum": "3KB"}}, ended)
	rng := rand.New(rand.NewPCG(8, 1))
	for range 50000 {
		r.push(rng.IntN(8), 40+rng.IntN(1461))
		q, _ := r.s.Next(0)
		size := r.HeadSize(q)
		r.queues[q] = r.queues[q][1:]
		sent[q] += size // before a turn's end is told by Sent
		r.s.Sent(0, q, size)
	}
}

// TestWRRLargePacket: a packet above the quantum goes alone in its turn.
func TestWRRLargePacket(t *testing.T) {
	r := newRig(t, 2, "wrr", map[string]any{"quantum": "1KB"})
	r.push(0, 1500, 100)
	r.push(1, 500, 500, 500)
	if got, want := r.drain(), []int{0, 1, 1, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

// TestTurnsEnd: both disciplines tell the end of every turn once: the quantum
// is used up, or the queue emptied.
func TestTurnsEnd(t *testing.T) {
	type turn struct {
		q       int
		emptied bool
	}
	for _, name := range []string{"dwrr", "wrr"} {
		var turns []turn
		r := newRigTold(t, 2, kind.Choice{Kind: name}, func(_ time.Duration, q int, emptied bool) {
			turns = append(turns, turn{q, emptied})
		})
		r.push(0, 1500, 1500)
		r.push(1, 1500)
		r.drain()
		if want := []turn{{0, false}, {1, true}, {0, true}}; !slices.Equal(turns, want) {
			t.Errorf("%s: turns %v, want %v", name, turns, want)
		}
	}
}
