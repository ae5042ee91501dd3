package trafficgen

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPoissonGaps(t *testing.T) {
	const n, mean = 100_000, 1.5e6
	r := rand.New(rand.NewPCG(3, 4))
	gaps := make([]int64, n)
	for i := range gaps {
		gaps[i] = int64(randomGap(r, mean))
	}
	got, deviation := moments(gaps)
	// The mean of n exponential draws is off by mean/sqrt(n) on average.
	if math.Abs(got-mean) > 4*mean/math.Sqrt(n) {
		t.Errorf("mean gap %.0f ns, want %.0f within four standard errors", got, mean)
	}
	// An exponential distribution deviates by its mean; the error of the
	// sample's deviation is sqrt(2/n) of it.
	if math.Abs(deviation-mean) > 4*mean*math.Sqrt(2.0/n) {
		t.Errorf("deviation %.0f ns, want %.0f within four standard errors", deviation, mean)
	}
	checkExponential(t, gaps, mean)
}

// checkExponential is the Kolmogorov-Smirnov test at a significance of 0.001.
func checkExponential(t *testing.T, gaps []int64, mean float64) {
	t.Helper()
	n := float64(len(gaps))
	slices.Sort(gaps)
	var distance float64
	for i, g := range gaps {
		want := 1 - math.Exp(-float64(g)/mean)
		distance = max(distance, math.Abs(want-float64(i)/n), math.Abs(want-float64(i+1)/n))
	}
	if limit := 1.949 / math.Sqrt(n); distance > limit {
		t.Errorf("distance %.5f from the exponential distribution, want at most %.5f", distance, limit)
	}
}

// Independent gaps: neighbours do not correlate by more than sampling error.
func TestPoissonGapsAreIndependent(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(5, 6))
	var sum float64
	before := exponential(r) - 1
	for range n {
		next := exponential(r) - 1
		sum += before * next
		before = next
	}
	if c := sum / n; math.Abs(c) > 4/math.Sqrt(n) {
		t.Errorf("correlation %.4f of neighbouring gaps, want 0 within four standard errors", c)
	}
}

func TestArrivalsTable(t *testing.T) {
	if got, want := Arrivals().Names(), []string{"poisson", "incast", "static", "trace", "none"}; !slices.Equal(got, want) {
		t.Errorf("rows %v, want %v", got, want)
	}
	for name, c := range map[string]struct {
		params map[string]any
		want   string
	}{
		"poisson": {map[string]any{"rate": 1}, "rate: unknown parameter: want one of gap"},
		"incast":  {map[string]any{"fan_out": 0}, "fan_out: 0 is outside 1 to 100000"},
		"static":  {map[string]any{"count": []any{}}, "count: empty"},
		"trace":   {nil, "file: want either a file or the name of a trace"},
	} {
		_, err := Arrivals().New(name, c.params, Env{})
		if err == nil || !strings.HasPrefix(err.Error(), name+": "+c.want) {
			t.Errorf("%s: error %v, want %s", name, err, c.want)
		}
	}
}

// A gap of its own replaces the load's: at a mean of 10 us, 10,000 flows last
// 100 ms within four standard errors, whatever the load.
func TestPoissonGapOfItsOwn(t *testing.T) {
	flows := withSpec(t, func(s *Spec) {
		s.Arrival.Params, s.Flows, s.Load = map[string]any{"gap": "10us"}, 10_000, 0
	})
	last := flows[len(flows)-1].Start
	if want := 100 * time.Millisecond; (last - want).Abs() > want/25 {
		t.Errorf("the last flow starts at %v, want %v", last, want)
	}
}
