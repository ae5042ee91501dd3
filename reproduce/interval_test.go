package reproduce

import (
	"math"
	"testing"

	"aqmlab/reproduce/metric"
	"aqmlab/results"
)

// The intervals over seeds are those of Student's t.
func TestIntervalOfSeeds(t *testing.T) {
	one := overSeeds([]float64{3}, nil)
	if one.Value != 3 || one.CI95 != nil || one.Seeds != 1 {
		t.Errorf("one seed: %+v", one)
	}
	two := overSeeds([]float64{2, 4}, nil)
	if two.Value != 3 || two.CI95 == nil || math.Abs(float64(two.CI95[1])-(3+12.706)) > 1e-3 {
		t.Errorf("two seeds: %+v", two)
	}
	three := overSeeds([]float64{1, 2, 3}, nil)
	if want := 2 - 4.303/math.Sqrt(3); math.Abs(float64(three.CI95[0])-want) > 1e-3 {
		t.Errorf("three seeds: %+v, want %v", three, want)
	}
	if metric.Difference(0, 0) != 0 || !math.IsInf(metric.Difference(0, 5), 1) || metric.Difference(200, 100) != -50 {
		t.Error("differences")
	}
}

// What is more than none in some seeds alone has no interval, and what is infinite in all is
// nothing else.
func TestIntervalOfInfinity(t *testing.T) {
	never := math.Inf(1)
	if f := overSeeds([]float64{never, 3}, nil); f.CI95 != nil || !math.IsInf(float64(f.Value), 1) {
		t.Errorf("once: %+v", f)
	}
	if f := overSeeds([]float64{never, never}, nil); f.CI95 == nil || float64(f.CI95[0]) != never || float64(f.CI95[1]) != never {
		t.Errorf("twice: %+v", f)
	}
}

// Intervals of differences, worked out by hand or by the theorem's meaning.
func TestDifferenceInterval(t *testing.T) {
	never := math.Inf(1)
	for _, tt := range []struct {
		name       string
		base, mine []float64
		low, high  float64 // percent
	}{
		{"a baseline that does not vary: Student's t of the other, no less than none", []float64{2, 2, 2}, []float64{1, 2, 3}, -100, 50 * 4.3027 / math.Sqrt(3)},
		{"the same ratio in all seeds", []float64{2, 3, 7}, []float64{1, 1.5, 3.5}, -50, -50},
		{"none against none", []float64{0, 0}, []float64{0, 0}, 0, 0},
		{"none against some", []float64{4, 4}, []float64{0, 0}, -100, -100},
		{"clearly more than none", []float64{0, 0, 0}, []float64{50, 51, 52}, never, never},
		{"perhaps no more than none", []float64{0, 0}, []float64{1, 102}, -100, never},
		{"a baseline that may be none, and clearly more", []float64{0, 0, 1}, []float64{60, 61, 62}, 2000, never},
		{"two that may both be none", []float64{0, 5}, []float64{7, 0}, -100, never},
		{"never against a time", []float64{3, 4}, []float64{never, never}, never, never},
	} {
		got := differenceInterval(tt.base, tt.mine)
		switch {
		case got == nil:
			t.Errorf("%s: no interval", tt.name)
		case tt.low == 2000: // the least is what the test after this one computes
			if float64(got[0]) < 2000 || float64(got[1]) != never {
				t.Errorf("%s: %v", tt.name, *got)
			}
		case !near(float64(got[0]), tt.low) || !near(float64(got[1]), tt.high):
			t.Errorf("%s: %v, want %v to %v", tt.name, *got, tt.low, tt.high)
		}
	}
	if got := differenceInterval([]float64{1, 2}, []float64{never, 3}); got != nil {
		t.Errorf("never in some seeds alone: %v", *got)
	}
	if got := differenceInterval([]float64{1}, []float64{2}); got != nil {
		t.Errorf("one seed: %v", *got)
	}
}

// A ratio is in the interval exactly if Student's t finds no difference between one mean
// and so many times the other.
func TestRatiosInTheInterval(t *testing.T) {
	for _, tt := range []struct{ base, mine []float64 }{
		{[]float64{10, 12, 11}, []float64{7, 9, 7}},
		{[]float64{10, 12, 11, 13, 12}, []float64{20, 26, 21, 27, 23}},
		{[]float64{0, 0, 1}, []float64{60, 61, 62}},
		{[]float64{1, 2, 1}, []float64{500, 300, 400}},
	} {
		low, high := ratioInterval(tt.base, tt.mine)
		for q := 0.01; q < 1000; q *= 1.003 {
			var rests []float64
			for i := range tt.base {
				rests = append(rests, tt.mine[i]-q*tt.base[i])
			}
			from, to, _ := results.EstimateOf(rests).Interval()
			if may, in := from <= 0 && to >= 0, low <= q && q <= high; may != in {
				t.Fatalf("%v over %v: %v may be the ratio: %v, and the interval is %v to %v", tt.mine, tt.base, q, may, low, high)
			}
		}
	}
}

// near tells whether numbers are equal but for rounding.
func near(a, b float64) bool { return a == b || math.Abs(a-b) < 0.01 }
