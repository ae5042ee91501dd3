package trafficgen

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// The short flows of the ABQ paper: of mean 50 KB and shape 1.2, so that the
// smallest are of 8.33 KB, and more than x has the share (scale/x)^shape.
func TestParetoTail(t *testing.T) {
	const n, scale = 200_000, 50_000.0 / 6
	sample := draw(mustSizes(t, "pareto", map[string]any{"mean": "50KB", "shape": 1.2}), n)
	slices.Sort(sample)
	if sample[0] < 8333 || sample[0] > 8335 {
		t.Errorf("the smallest of %d is %d, want 8333", n, sample[0])
	}
	for _, x := range []float64{1e4, 3e4, 1e5, 1e6, 1e7} {
		first, _ := slices.BinarySearch(sample, int64(x)+1)
		got, want := float64(n-first)/n, math.Pow(scale/x, 1.2)
		if off := 4 * math.Sqrt(want/n); math.Abs(got-want) > off {
			t.Errorf("a share of %.6f above %.0f, want %.6f within %.6f", got, x, want, off)
		}
	}
}

// The mean counts the bound of 1 TiB: integrated by quantiles up to it, in
// steps that are even in the exponent of the tail.
func TestParetoMean(t *testing.T) {
	for _, c := range []struct{ mean, shape float64 }{{50e3, 1.2}, {50e3, 1.05}, {1e6, 2}, {10e3, 50}} {
		d := mustSizes(t, "pareto", map[string]any{"mean": formatBytes(c.mean), "shape": c.shape})
		scale := c.mean * (c.shape - 1) / c.shape
		// The mean is the integral of the share above x over all x below the bound.
		want, x := scale, scale
		for step := 1.0001; x < traffic.MaxBytes; x *= step {
			width := min(x*step, traffic.MaxBytes) - x
			want += width * math.Pow(scale/(x+width/2), c.shape)
		}
		if got := d.Mean(); math.Abs(got/want-1) > 1e-6 {
			t.Errorf("mean %v, shape %v: %.3f, want %.3f", c.mean, c.shape, got, want)
		}
	}
}

func formatBytes(n float64) string { return units.Size(n).String() }

func TestParetoIsBounded(t *testing.T) {
	d := mustSizes(t, "pareto", map[string]any{"mean": "500GB", "shape": 1.01})
	top := false
	for _, v := range draw(d, 100_000) {
		if v < 1 || v > traffic.MaxBytes {
			t.Fatalf("drew %d", v)
		}
		top = top || v == traffic.MaxBytes
	}
	if !top || d.Quantile(1-1e-9) != traffic.MaxBytes {
		t.Error("the bound is never reached")
	}
}

// The functions that stand in for the library's are right to a few units of the
// last place.
func TestExactFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		y := r.Float64() * 40
		if got, want := exponent(y), math.Exp(y); math.Abs(got/want-1) > 1e-14 {
			t.Errorf("e to the power of %v is %v, want %v", y, got, want)
		}
		x := 1 + r.Float64()*1e9
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-13 {
			t.Errorf("the logarithm of %v is %v, want %v", x, got, want)
		}
	}
	if exponent(0) != 1 || !math.IsInf(exponent(1000), 1) || logarithm(1) > 1e-15 {
		t.Errorf("e^0 is %v, e^1000 %v, ln 1 %v", exponent(0), exponent(1000), logarithm(1))
	}
}

// Quantiles invert the distribution function: a sample stays below each with
// its probability.
func TestQuantiles(t *testing.T) {
	const n = 100_000
	for name, params := range map[string]map[string]any{
		"websearch": nil, "hadoop": nil, "pareto": nil,
		"uniform": {"min": "1KB", "max": "1MB"}, "fixed": {"size": "5KB"},
	} {
		d := mustSizes(t, name, params)
		sample := draw(d, n)
		slices.Sort(sample)
		for _, p := range []float64{0, 0.01, 0.5, 0.9, 0.99} {
			q := d.Quantile(p)
			below, _ := slices.BinarySearch(sample, int64(q))
			upTo, _ := slices.BinarySearch(sample, int64(math.Ceil(q))+1)
			off := 4*math.Sqrt(p*(1-p)/n) + 1e-3
			if low, high := float64(below)/n, float64(upTo)/n; p < low-off || p > high+off {
				t.Errorf("%s: %.0f is quantile %v, but that of the sample from %v to %v", name, q, p, low, high)
			}
		}
	}
}
