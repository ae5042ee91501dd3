package sched

import (
	"slices"
	"testing"
)

func aifoOf(t *testing.T, params map[string]any) *aifo {
	t.Helper()
	s, err := Table().New("aifo", params, Env{Queues: 1, Buffer: 15_000})
	if err != nil {
		t.Fatal(err)
	}
	return s.(*aifo)
}

// TestAIFOAdmission: a queue of 10 packets with k = 0.2 takes all up to 2 packets. With c
// packets in it, it takes those below which at most (10 - c) / 8 of the window are (Yu et
// al., SIGCOMM 2021, the condition for admission). The window has ranks 0 to 9.
func TestAIFOAdmission(t *testing.T) {
	for c, limit := range []int{ // the largest rank that is taken
		0: 100, 1: 100, 2: 100,
		3: 8, // 7/8 of 10 ranks: 8.75
		4: 7, 5: 6, 6: 5, 7: 3, 8: 2, 9: 1, 10: 0,
	} {
		for rank := range 10 {
			s := aifoOf(t, map[string]any{"k": 0.2, "window": 10, "sample": 1})
			for r := range 10 {
				s.notice(uint64(r))
			}
			for range c {
				s.Hold(0, 0, ranked(0))
			}
			if got := s.Admits(ranked(rank), 0); got != (rank <= limit) {
				t.Errorf("with %d packets, rank %d: %v", c, rank, got)
			}
		}
	}
}

// TestAIFOWindow: the window has the last ranks that were sampled, those of packets that
// were refused among them.
func TestAIFOWindow(t *testing.T) {
	s := aifoOf(t, map[string]any{"window": 3, "sample": 2})
	for rank := range 12 {
		s.Admits(ranked(rank), 0)
	}
	got := slices.Sorted(slices.Values(s.window))
	if want := []uint64{6, 8, 10}; !slices.Equal(got, want) {
		t.Errorf("the window has %v, want %v", got, want)
	}
}

// TestAIFOOrder: what is admitted leaves in the order of arrival.
func TestAIFOOrder(t *testing.T) {
	s := aifoOf(t, nil)
	arrive(s, 5, 1, 3)
	if got, want := leave(s), []int{5, 1, 3}; !slices.Equal(got, want) {
		t.Errorf("they leave as %v, want %v", got, want)
	}
}

// TestAIFOPrefersSmallRanks: overloaded twice, it drops mostly the larger half of ranks, as a
// PIFO drops only those.
func TestAIFOPrefersSmallRanks(t *testing.T) {
	s := aifoOf(t, map[string]any{"sample": 1, "window": 20})
	small, large := 0, 0 // refused
	for i := range 20_000 {
		rank := (i*37 + i/7) % 100
		if arrive(s, rank)[0] < 0 {
			if rank < 50 {
				small++
			} else {
				large++
			}
		}
		if i%2 == 0 && s.Head() != nil {
			s.Take(0)
		}
	}
	if small*4 > large || small+large < 9000 {
		t.Errorf("refused %d small ranks and %d large ones", small, large)
	}
}
