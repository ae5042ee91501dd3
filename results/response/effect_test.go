package response

import (
	"math"
	"slices"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 0.005 }

// effectsOf are the effects by axis of one scheme.
func effectsOf(t *testing.T, s Set, scheme string) map[string]Effect {
	t.Helper()
	all := make(map[string]Effect)
	for _, e := range gridFrom(t, s).effects(metricOf(t, "small.p99")) {
		if e.Scheme == scheme {
			all[e.Axis] = e
		}
	}
	return all
}

// square is a design of two axes with two values each.
func square(of map[string]float64) Set {
	return sheet([]Axis{axis("workload.load", "0.1 0.9"), axis("schemes.tcn.threshold", "50us 150us")}, "tcn red", 1,
		func(_ string, values []string, _ uint64) map[string]float64 { return p99(of[values[0]+" "+values[1]]) })
}

// TestMainEffects: the means at the loads are 15 and 45, those at the thresholds 20 and
// 40, and that over all is 30.
func TestMainEffects(t *testing.T) {
	s := square(map[string]float64{"0.1 50us": 10, "0.1 150us": 20, "0.9 50us": 30, "0.9 150us": 60})
	tcn := effectsOf(t, s, "tcn")
	if e := tcn["workload.load"]; !near(e.Percent, 100) || e.Lowest != "0.1" || e.Highest != "0.9" || e.Noise != nil {
		t.Errorf("the load: %+v", e)
	}
	if e := tcn["schemes.tcn.threshold"]; !near(e.Percent, 100*20.0/30) || e.Lowest != "50us" || e.Highest != "150us" {
		t.Errorf("the threshold: %+v", e)
	}
	// Red has its first point at each load, 10 and 30; the threshold does not concern it.
	red := effectsOf(t, s, "red")
	if _, ok := red["schemes.tcn.threshold"]; ok || !near(red["workload.load"].Percent, 100) {
		t.Errorf("red: %+v", red)
	}
	if all := gridFrom(t, s).effects(metricOf(t, "small.p99")); all[0].Axis != "workload.load" || all[1].Axis != "schemes.tcn.threshold" {
		t.Errorf("the largest is not the first: %+v", all)
	}
}

// TestEffectOfIncompleteSweep: the load 0.9 is not measured with 50us, so that only 150us
// can tell what the load does.
func TestEffectOfIncompleteSweep(t *testing.T) {
	s := square(map[string]float64{"0.1 50us": 10, "0.1 150us": 20, "0.9 150us": 60})
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return p.Values[0] == "0.9" && p.Values[1] == "50us" })
	tcn := effectsOf(t, s, "tcn")
	if e := tcn["workload.load"]; !near(e.Percent, 100) { // 20 and 60 about 40
		t.Errorf("the load: %+v", e)
	}
	if e := tcn["schemes.tcn.threshold"]; !near(e.Percent, 100*10.0/15) { // 10 and 20 about 15
		t.Errorf("the threshold: %+v", e)
	}
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return p.Values[0] == "0.9" })
	if e, ok := effectsOf(t, s, "tcn")["workload.load"]; ok {
		t.Errorf("a load alone has an effect: %+v", e)
	}
}

// seeded is one axis with values by seed.
func seeded(key, values string, of ...[]float64) Set {
	a := axis(key, values)
	return sheet([]Axis{a}, "tcn", len(of), func(_ string, values []string, seed uint64) map[string]float64 {
		return p99(of[seed-1][slices.Index(a.Values, values[0])])
	})
}

// TestNoise: of two values it is the paired t test. The differences 2, 3 and 4 have the
// standard deviation 1, so that chance leads to 4.303 over the root of 3 at most, although
// seeds differ by much more.
func TestNoise(t *testing.T) {
	e := effectsOf(t, seeded("workload.load", "0.1 0.9", []float64{10, 12}, []float64{20, 23}, []float64{30, 34}), "tcn")["workload.load"]
	const mean = 21.5
	if !near(e.Percent, 100*3/mean) || e.Noise == nil || !near(*e.Noise, 100*4.30265/math.Sqrt(3)/mean) || !e.Beyond {
		t.Errorf("%+v, noise %v", e, *e.Noise)
	}
	e = effectsOf(t, seeded("workload.load", "0.1 0.9", []float64{10, 12}, []float64{23, 20}, []float64{30, 34}), "tcn")["workload.load"]
	if e.Noise == nil || e.Beyond {
		t.Errorf("differences of either sign are beyond chance: %+v", e)
	}
}

// TestNoiseOfThreeValues: means 1, 3 and 8 about 4, and of the seeds 3 and 5, leave
// residuals of 0, 1, -1 and 0, -1, 1: a variance of 4/2. For three pairs and two degrees
// of freedom Bonferroni's t is 7.649.
func TestNoiseOfThreeValues(t *testing.T) {
	e := effectsOf(t, seeded("workload.load", "0.1 0.5 0.9", []float64{0, 3, 6}, []float64{2, 3, 10}), "tcn")["workload.load"]
	if want := 100 * 7.649 * math.Sqrt(2) / 4; !near(e.Percent, 175) || e.Noise == nil || math.Abs(*e.Noise-want) > 0.02 || e.Beyond {
		t.Errorf("%+v with noise %v, want 175 and %v", e, *e.Noise, want)
	}
}

// TestNoNoise: without any difference between seeds every effect is beyond chance, and
// without any effect none is.
func TestNoNoise(t *testing.T) {
	if e := effectsOf(t, seeded("workload.load", "0.1 0.9", []float64{1, 2}, []float64{1, 2}), "tcn")["workload.load"]; *e.Noise != 0 || !e.Beyond {
		t.Errorf("%+v", e)
	}
	if e := effectsOf(t, seeded("workload.load", "0.1 0.9", []float64{0, 0}, []float64{0, 0}), "tcn")["workload.load"]; e.Percent != 0 || e.Beyond {
		t.Errorf("%+v", e)
	}
}
