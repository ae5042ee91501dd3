package response

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// clouds is settings with figures of two metrics, one setting a value of an axis.
func clouds(metrics [2]string, of ...[2]float64) Set {
	a := Axis{Key: "schemes.tcn.threshold"}
	for i := range of {
		a.Values = append(a.Values, strconv.Itoa(i))
	}
	return sheet([]Axis{a}, "tcn", 1, func(_ string, values []string, _ uint64) map[string]float64 {
		i, _ := strconv.Atoi(values[0])
		return map[string]float64{metrics[0]: of[i][0], metrics[1]: of[i][1]}
	})
}

// ahead are the values of the settings on the only front.
func ahead(t *testing.T, s Set, metrics [2]string) (values []string) {
	t.Helper()
	v := viewOf(t, s, Options{Front: metrics})
	if len(v.Fronts) != 1 {
		t.Fatalf("%d fronts", len(v.Fronts))
	}
	for _, s := range v.Fronts[0].Ahead() {
		values = append(values, s.Values[len("threshold "):])
	}
	return values
}

func TestFront(t *testing.T) {
	times := [2]string{"small.p99", "large.avg"}
	for _, c := range []struct {
		name    string
		metrics [2]string
		of      [][2]float64
		want    []string
	}{
		{"stairs", times, [][2]float64{{6, 1}, {3, 8}, {2, 7}, {5, 5}, {4, 4}, {1, 9}}, []string{"5", "2", "4", "0"}},
		{"one beats all", times, [][2]float64{{2, 2}, {1, 1}, {1, 2}, {2, 1}}, []string{"1"}},
		{"equal ones do not beat each other", times, [][2]float64{{1, 1}, {1, 1}, {1, 3}}, []string{"0", "1"}},
		{"a higher share is better", [2]string{"small.p99", "completed"}, [][2]float64{{1, 0.5}, {2, 0.9}, {3, 0.7}}, []string{"0", "1"}},
		{"alone", times, [][2]float64{{1, 1}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.of) == 1 {
				v := viewOf(t, clouds(c.metrics, c.of...), Options{Front: c.metrics})
				if len(v.Fronts) != 1 || !v.Fronts[0].Settings[0].Front {
					t.Errorf("fronts %+v", v.Fronts)
				}
				return
			}
			if got := ahead(t, clouds(c.metrics, c.of...), c.metrics); !slices.Equal(got, c.want) {
				t.Errorf("settings %v, want %v", got, c.want)
			}
		})
	}
}

// TestFrontByItsDefinition compares with a comparison of each with each.
func TestFrontByItsDefinition(t *testing.T) {
	metrics := [2]string{"small.p99", "large.avg"}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		of := make([][2]float64, 60)
		for i := range of {
			of[i] = [2]float64{float64(r.IntN(12)), float64(r.IntN(12))} // with ties
		}
		var want []string
		for i, a := range of {
			beaten := slices.ContainsFunc(of, func(b [2]float64) bool { return b[0] <= a[0] && b[1] <= a[1] && b != a })
			if !beaten {
				want = append(want, strconv.Itoa(i))
			}
		}
		got := ahead(t, clouds(metrics, of...), metrics)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: settings %v, want %v", seed, got, want)
		}
	}
}

// conditional is two settings that are each the best at one load, and a third that is
// nowhere far behind.
func conditional() Set {
	return sheet([]Axis{axis("workload.load", "0.5 0.9"), axis("schemes.tcn.threshold", "1us 2us 3us")}, "tcn red", 1,
		func(scheme string, values []string, _ uint64) map[string]float64 {
			if scheme == "red" {
				return map[string]float64{"small.p99": 90, "large.avg": 1}
			}
			v := map[string]float64{"0.5 1us": 100, "0.9 1us": 400, "0.5 2us": 110, "0.9 2us": 220, "0.5 3us": 150, "0.9 3us": 200}[values[0]+" "+values[1]]
			return map[string]float64{"small.p99": v, "large.avg": 2}
		})
}

// TestConditions: settings under different loads are not compared.
func TestConditions(t *testing.T) {
	v := viewOf(t, conditional(), Options{})
	if len(v.Fronts) != 2 || v.Fronts[0].Condition != "load 0.5" || len(v.Fronts[0].Settings) != 4 {
		t.Fatalf("fronts %+v", v.Fronts)
	}
	var got []string
	for _, b := range v.Bests {
		got = append(got, fmt.Sprintf("%s %s %s %s %v %v", b.Condition, b.Metric, b.Scheme, b.Values, b.Estimate.Mean, b.First))
	}
	want := []string{
		"load 0.5 small.p99 tcn threshold 1us 100 false", "load 0.5 small.p99 red  90 true",
		"load 0.5 large.avg tcn threshold 1us 2 false", "load 0.5 large.avg red  1 true",
		"load 0.9 small.p99 tcn threshold 3us 200 false", "load 0.9 small.p99 red  90 true",
		"load 0.9 large.avg tcn threshold 1us 2 false", "load 0.9 large.avg red  1 true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("best settings %q, want %q", got, want)
	}
	// 2us is 10 % behind at both loads, 1us is 100 % behind at 0.9 and 3us 50 % at 0.5.
	r := v.Robusts[0]
	if r.Scheme != "tcn" || r.Metric != "small.p99" || r.Values != "threshold 2us" || r.Worst < 9.999 || r.Worst > 10.001 {
		t.Errorf("for all loads: %+v", v.Robusts)
	}
}

// TestSettings: what is no setting by itself may be named as one.
func TestSettings(t *testing.T) {
	v := viewOf(t, conditional(), Options{Settings: []string{"workload.load"}})
	if len(v.Fronts) != 1 || len(v.Fronts[0].Settings) != 8 || v.Fronts[0].Condition != "" || len(v.Robusts) > 0 {
		t.Errorf("fronts %+v, for all conditions %+v", v.Fronts, v.Robusts)
	}
	s := sheet([]Axis{axis("host.rto_min", "1ms 2ms"), axis("switch.buffer.per_port", "1KB 2KB"), axis("topology.rate", "1Gbps 2Gbps")}, "a", 1,
		func(string, []string, uint64) map[string]float64 { return p99(1) })
	g := gridFrom(t, s)
	if settings, conditions := g.split(Options{}); !slices.Equal(settings, []int{0, 1}) || !slices.Equal(conditions, []int{2}) {
		t.Errorf("settings %v, conditions %v", settings, conditions)
	}
	if settings, conditions := g.split(Options{Settings: []string{}}); len(settings) > 0 || len(conditions) != 3 {
		t.Errorf("without any: settings %v, conditions %v", settings, conditions)
	}
}
