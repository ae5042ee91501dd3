package aqm

import (
	"math/rand/v2"
	"testing"
	"time"
)

// loaded is a source of one random number, 0 or as near to 1 as they come.
type loaded uint64

func (l loaded) Uint64() uint64 { return uint64(l) }

// TestPIEDerandomize: no packet is acted on before the probabilities since the
// last action add up to 0.85, and one is for sure when they reach 8.5 (RFC 8033,
// section 5.4).
func TestPIEDerandomize(t *testing.T) {
	const never, always = loaded(1<<64 - 1), loaded(0)
	tests := []struct {
		name string
		prob float64
		dice loaded
		want int // packets up to and with the one that is acted on
	}{
		{"8 x 0.11 is above 0.85", 0.11, always, 8},
		{"4 x 0.2125 is 0.85", 0.2125, always, 4},
		{"a certain action waits for none", 1, always, 1},
		{"78 x 0.11 is above 8.5", 0.11, never, 78},
		{"34 x 0.25 is 8.5", 0.25, never, 34},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := env()
			e.Rand = rand.New(tt.dice)
			s, err := Table().New("pie", map[string]any{"derandomize": true, "mark_ecnth": 1, "tupdate": "1h"}, e)
			if err != nil {
				t.Fatal(err)
			}
			s.(*pie).queues[1] = pieQueue{prob: tt.prob, delay: 20 * time.Millisecond}
			for round := range 3 {
				n := 1
				for s.Arrive(0, nil, View{Queue: 1, Bytes: 90000}) == Pass {
					n++
				}
				if n != tt.want {
					t.Errorf("round %d: packet %d, want %d", round, n, tt.want)
				}
			}
		})
	}
}

// TestPIEDerandomizeForgets: what added up is forgotten when the probability has
// fallen to zero, and does not grow while packets are spared.
func TestPIEDerandomizeForgets(t *testing.T) {
	e := env()
	e.Rand = rand.New(loaded(0))
	s, err := Table().New("pie", map[string]any{"derandomize": true, "mark_ecnth": 1, "tupdate": "1h", "max_burst": "0s"}, e)
	if err != nil {
		t.Fatal(err)
	}
	q := &s.(*pie).queues[1]
	arrive := func(prob float64, bytes int, want Verdict) {
		t.Helper()
		q.prob, q.delay = prob, 20*time.Millisecond
		if got := s.Arrive(0, nil, View{Queue: 1, Bytes: bytes}); got != want {
			t.Errorf("with %v: %v, want %v", prob, got, want)
		}
	}
	arrive(0.8, 90000, Pass)
	arrive(0.8, 3000, Pass) // spared: two packets wait
	arrive(0, 90000, Pass)
	arrive(0.8, 90000, Pass)
	arrive(0.8, 90000, MarkOrDrop)
}
