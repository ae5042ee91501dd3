package sched

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestDWRRByHand follows the rules of the paper packet by packet: quanta 1500
// and 3000; the deficit is kept when the head does not fit, lost when the queue
// empties.
func TestDWRRByHand(t *testing.T) {
	r := newRig(t, 3, "dwrr", map[string]any{"quantum": "1500B", "weights": []int{1, 2, 1}})
	r.push(0, 1000, 1000, 1000, 1000)
	r.push(1, 1500, 1500, 1500)
	r.push(2, 600)
	// Round 1: queue 0 sends 1000 (500 left), queue 1 sends 3000, queue 2 sends
	// 600 and leaves. Round 2: queue 0 has 2000 and sends two, queue 1 sends its
	// last. Round 3: queue 0 (deficit 0 + 1500) sends its last.
	want := []int{0, 1, 1, 2, 0, 0, 1, 0}
	if got := r.drain(); !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
	// Queue 0 left with 500 in hand; it must start afresh: 1500 then 1 does not
	// fit one quantum, so queue 1 comes between.
	r.push(0, 1500, 1)
	r.push(1, 1500)
	if got, want := r.drain(), []int{0, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("after going idle: served %v, want %v", got, want)
	}
}

// TestDWRRQueueAfterTheTurn: a queue that empties during its turn and is filled
// again goes to the end of the round.
func TestDWRRQueueAfterTheTurn(t *testing.T) {
	r := newRig(t, 2, "dwrr", map[string]any{"quantum": "3000B"})
	r.push(0, 1500)
	r.push(1, 1500, 1500)
	if q := r.pop(); q != 0 {
		t.Fatalf("served %d first", q)
	}
	r.push(0, 1500)
	if got, want := r.drain(), []int{1, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("served %v, want %v", got, want)
	}
}

// TestDWRRShares: over M backlogged rounds a queue sends M quanta, within one
// MTU (MQ-ECN, section 3.3.2).
func TestDWRRShares(t *testing.T) {
	weights := []int{2, 1, 1, 4}
	r := newRig(t, 4, "dwrr", map[string]any{"quantum": "1500B", "weights": weights})
	rng := rand.New(rand.NewPCG(5, 6))
	sent := make([]int, 4)
	for q := range 4 {
		r.push(q, 40+rng.IntN(1461))
	}
	const rounds = 10000
	for range 1 << 20 {
		q, _ := r.s.Next(0)
		r.push(q, 40+rng.IntN(1461)) // never empties
		sent[q] += r.HeadSize(q)
		r.pop()
		if sent[1] >= rounds*1500 {
			break
		}
	}
	for q, w := range weights {
		want := rounds * 1500 * w
		if diff := sent[q] - want; diff < -1500*(w+1) || diff > 1500*(w+1) {
			t.Errorf("queue %d of weight %d sent %d bytes, want %d within a quantum and an MTU", q, w, sent[q], want)
		}
	}
}

func TestDWRRBadParameters(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"quantum": {"quantum": "0B"},
		"weights": {"weights": []int{1, 2, 3}},
		"weight":  {"weights": []int{1, 0}},
	} {
		if _, err := Table().New("dwrr", params, Env{Queues: 2}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: error %v does not name %s", params, err, name)
		}
	}
}
