package response

import (
	"math"
	"slices"
	"testing"

	"aqmlab/results"
)

func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		values, title string
		at            []float64
		log           bool
	}{
		{"0.1 0.5 0.9", "k", []float64{0.1, 0.5, 0.9}, false},
		{"50us 78us 150us", "k (us)", []float64{50, 78, 150}, false},
		{"1ms 200us 1s", "k (us)", []float64{1000, 200, 1e6}, true},
		{"5ms 0s", "k (ms)", []float64{5, 0}, false}, // zero has a place, but no logarithm
		{"30KB 1.5MB", "k (KB)", []float64{30, 1500}, true},
		{"2500B 64KiB", "k (KB)", []float64{2.5, 65.536}, true},
		{"10Gbps 40Gbps", "k (Gbps)", []float64{10, 40}, false},
		{"1 20", "k", []float64{1, 20}, true},
	} {
		at, a := axis("k", c.values).places()
		same := slices.EqualFunc(at, c.at, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
		if !same || a.Title != c.title || a.Log != c.log || len(a.Columns) > 0 || a.Low != slices.Min(at) || a.High != slices.Max(at) {
			t.Errorf("%s: at %v on %+v, want %v, %q, %v", c.values, at, a, c.at, c.title, c.log)
		}
	}
	for _, values := range []string{"dctcp cubic", "5us 30KB", "0.5 high", "1 NaN"} {
		a := axis("k", values)
		at, f := a.places()
		if !slices.Equal(at, []float64{0, 1}) || !slices.Equal(f.Columns, a.Values) {
			t.Errorf("%s: at %v on %+v, want beside each other", values, at, f)
		}
	}
}

func TestShow(t *testing.T) {
	for _, c := range []struct {
		metric string
		value  float64
		want   string
	}{
		{"small.p99", 123.45, "123.5us"}, {"small.p99", 12_345, "12.3ms"}, {"queue.peak", 900, "900.0B"}, {"queue.peak", 90_000, "90.0KB"},
		{"completed", 0.98765, "0.9877"}, {"marks", 12.5, "12.5"}, {"marks", 12, "12"}, {"drops", 1_234_567, "1.23M"},
	} {
		if got := show(metricOf(t, c.metric), c.value); got != c.want {
			t.Errorf("%s of %v is %q, want %q", c.metric, c.value, got, c.want)
		}
	}
	m := metricOf(t, "small.p99")
	if got := showEstimate(m, results.Estimate{Count: 2, Mean: 200, Half: 25}); got != "200.0us ±12%" {
		t.Errorf("an estimate is %q", got)
	}
	if got := showEstimate(m, results.Estimate{Count: 1, Mean: 200}); got != "200.0us" {
		t.Errorf("an estimate of one seed is %q", got)
	}
	for v, want := range map[float64]string{0: "0", 1234.5: "1234", 99.94: "99.9", 1.2345: "1.23", 0.012345: "0.0123"} {
		if got := short(v); got != want {
			t.Errorf("%v in short is %q, want %q", v, got, want)
		}
	}
}
