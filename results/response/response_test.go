package response

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"aqmlab/results"
)

// sheet makes a set from a function of the values, for schemes and seeds 1 to n.
func sheet(axes []Axis, schemes string, seeds int, of func(scheme string, values []string, seed uint64) map[string]float64) Set {
	s := Set{Axes: axes}
	var walk func(values []string)
	walk = func(values []string) {
		if i := len(values); i < len(axes) {
			for _, v := range axes[i].Values {
				walk(append(values[:i:i], v))
			}
			return
		}
		for _, scheme := range strings.Fields(schemes) {
			for seed := uint64(1); seed <= uint64(seeds); seed++ {
				s.Points = append(s.Points, Point{Values: values, Coord: results.Coord{Scheme: scheme, Load: 0.5, Seed: seed}, Figures: of(scheme, values, seed)})
			}
		}
	}
	walk(nil)
	return s
}

// axis is one with values separated by spaces.
func axis(key, values string) Axis { return Axis{key, strings.Fields(values)} }

// p99 is figures with one metric alone.
func p99(v float64) map[string]float64 { return map[string]float64{"small.p99": v} }

// gridFrom lays out a set.
func gridFrom(t *testing.T, s Set) *grid {
	t.Helper()
	g, err := gridOf(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// viewOf is what a set shows.
func viewOf(t *testing.T, s Set, o Options) *View {
	t.Helper()
	v, err := New(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func metricOf(t testing.TB, name string) results.Metric {
	t.Helper()
	m, err := results.FindMetric(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func float(t testing.TB, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// typical is a sweep of a load, a threshold of tcn and another key, with so many values
// each and seeds, in which everything has an effect.
func typical(n, seeds int) Set {
	axes := []Axis{{Key: "workload.load"}, {Key: "schemes.tcn.threshold"}, {Key: "host.rto_min"}}
	for i := range n {
		axes[0].Values = append(axes[0].Values, strconv.FormatFloat(float64(i+1)/float64(n+1), 'f', 3, 64))
		axes[1].Values = append(axes[1].Values, fmt.Sprintf("%dus", 10+7*i))
		axes[2].Values = append(axes[2].Values, fmt.Sprintf("%dms", 1+i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	level := func(key, value string) float64 {
		for _, a := range axes {
			for i, v := range a.Values {
				if a.Key == key && v == value {
					return float64(i)
				}
			}
		}
		return 0
	}
	return sheet(axes, "droptail tcn", seeds, func(scheme string, values []string, seed uint64) map[string]float64 {
		load, k, rto := level("workload.load", values[0]), level("schemes.tcn.threshold", values[1]), level("host.rto_min", values[2])
		figures := make(map[string]float64)
		for i, m := range results.Metrics() {
			v := 100 * math.Exp(load/3) * (1 + rto/20) * (1 + 0.05*r.Float64()) * float64(i+1)
			if scheme == "tcn" {
				v *= 0.4 + 0.02*(k-5)*(k-5)
			}
			figures[m.Name] = v
		}
		figures["completed"] = 1
		return figures
	})
}
