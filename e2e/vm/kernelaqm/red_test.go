package kernelaqm_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
	"aqmlab/e2e/vm/vmtest"
	"aqmlab/units"
)

// standing is traffic whose queue does not run empty after its first packet:
// below a token bucket the kernel's RED never learns that it is idle, and so
// never ages its average. 30 KB last 12 ms.
func standing(seed uint64) []kernelaqm.Packet {
	ms := time.Millisecond
	var s []stretch
	for range 4 {
		s = append(s, stretch{8 * ms, time.Second}, stretch{14 * ms, time.Second}, stretch{11 * ms, time.Second}, stretch{20 * ms, time.Second})
	}
	return steer(rand.New(rand.NewPCG(seed, 3)), s...)
}

// TestKernelREDThreshold: with min = max RED is a threshold, on the length as it
// is or on its average, and each packet has the fate that it has in the kernel.
// The kernel's average is a fixed-point number: packets at which it is within a
// byte of the threshold are left out. Equality does not occur: at max Linux
// marks, ours does not.
func TestKernelREDThreshold(t *testing.T) {
	vmtest.NeedsGuest(t)
	const threshold = 30_000
	tests := []struct {
		name      string
		weightLog int
		ours      scheme
	}{
		{"length, red", 0, scheme{kind: "red", params: map[string]any{"min": "30KB", "max": "30KB", "weight": 1}}},
		{"length, dctcp-red", 0, scheme{kind: "dctcp-red", params: map[string]any{"threshold": "30KB"}}},
		{"average, red", 6, scheme{kind: "red", params: map[string]any{"min": "30KB", "max": "30KB", "weight": 1.0 / 64}}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			packets := standing(uint64(i))[:8000]
			events := record(t, kernelaqm.RED(threshold, threshold, tt.weightLog, 0.1), packets)
			kernel := kernelFates(events)
			ours := replay(t, tt.ours, events, nil)
			left := 0
			for _, e := range events {
				if e.Kind == kernelaqm.Arrival && tt.weightLog > 0 && math.Abs(float64(e.Average-threshold)) <= 1 {
					ours[e.Number] = kernel[e.Number]
					left++
				}
			}
			t.Logf("%d packets are left out", left)
			agree(t, kernel, ours, 1000)
		})
	}
}

// TestKernelREDProbability: between min and max both mark at random. In each
// third of the range of the average the kernel's marks must be as many as ours
// are in the mean over several seeds, within four standard deviations of a
// binomial distribution. (Both space marks evenly, which varies less.)
func TestKernelREDProbability(t *testing.T) {
	vmtest.NeedsGuest(t)
	const (
		lower, upper = 15_000, 60_000
		pmax         = 0.2
		seeds        = 8
	)
	packets := standing(9)
	events := record(t, kernelaqm.RED(lower, upper, 6, pmax), packets)
	third := func(e kernelaqm.Event) int { return (e.Average - lower) * 3 / (upper - lower) }
	kernel := marksByThird(events, third, kernelFates(events))
	var ours [3]float64
	for seed := range uint64(seeds) {
		s := scheme{"red", map[string]any{
			"min": units.Size(lower).String(), "max": units.Size(upper).String(), "pmax": pmax, "weight": 1.0 / 64,
		}, rand.NewPCG(seed, 1)}
		for i, n := range marksByThird(events, third, replay(t, s, events, nil)) {
			ours[i] += n / seeds
		}
	}
	for i, want := range ours {
		allowed := 4 * math.Sqrt(want)
		t.Logf("third %d of the range: %.0f marks by the kernel, %.1f by ours", i+1, kernel[i], want)
		if want < 100 || math.Abs(kernel[i]-want) > allowed {
			t.Errorf("third %d: %.0f marks by the kernel, %.1f by ours: want them within %.0f", i+1, kernel[i], want, allowed)
		}
	}
}

// marksByThird counts the marked packets at whose arrival the kernel's average
// stood in each third of the range.
func marksByThird(events []kernelaqm.Event, third func(kernelaqm.Event) int, fates []fate) (marks [3]float64) {
	for _, e := range events {
		if i := third(e); e.Kind == kernelaqm.Arrival && i >= 0 && i < len(marks) && fates[e.Number] == marked {
			marks[i]++
		}
	}
	return marks
}
