package kernelaqm_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
)

// TestPoisson: each phase offers its load, gaps are exponential, and lengths are
// what was asked for.
func TestPoisson(t *testing.T) {
	const long = 20 * time.Second
	for _, mixed := range []bool{false, true} {
		packets := kernelaqm.Poisson(rand.New(rand.NewPCG(1, 1)), rate, mixed,
			kernelaqm.Phase{Load: 1.2, For: long}, kernelaqm.Phase{Load: 0.3, For: long})
		var bits [2]float64
		full := 0
		for i, p := range packets {
			if p.Bytes < kernelaqm.MinBytes || p.Bytes > kernelaqm.MaxBytes || i > 0 && p.At < packets[i-1].At || p.At >= 2*long {
				t.Fatalf("packet %d is %+v", i, p)
			}
			if p.Bytes == kernelaqm.MaxBytes {
				full++
			}
			bits[p.At/long] += float64(p.Bytes) * 8
		}
		for i, load := range []float64{1.2, 0.3} {
			if got := bits[i] / long.Seconds() / float64(rate); math.Abs(got-load) > 0.05*load {
				t.Errorf("mixed %v, phase %d: load %v, want %v", mixed, i, got, load)
			}
		}
		share := map[bool]float64{false: 1, true: 0.5}[mixed]
		if got := float64(full) / float64(len(packets)); math.Abs(got-share) > 0.02 {
			t.Errorf("mixed %v: %v of the packets are full, want %v", mixed, got, share)
		}
	}
}

// TestPoissonRepeats: the same seed gives the same traffic.
func TestPoissonRepeats(t *testing.T) {
	make := func(seed uint64) []kernelaqm.Packet {
		return kernelaqm.Poisson(rand.New(rand.NewPCG(seed, 1)), rate, true, kernelaqm.Phase{Load: 1, For: time.Second})
	}
	if !slices.Equal(make(1), make(1)) || slices.Equal(make(1), make(2)) {
		t.Error("traffic does not follow its seed")
	}
}
