package response

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// twoSchemes is a load and a threshold of tcn, three seeds. Values of seeds are 2, 4 and
// 9 about a base.
func twoSchemes() Set {
	return sheet([]Axis{axis("workload.load", "0.5 0.9"), axis("schemes.tcn.threshold", "50us 78us 150us")}, "tcn red", 3,
		func(scheme string, values []string, seed uint64) map[string]float64 {
			base := map[string]float64{"0.5": 100, "0.9": 200}[values[0]]
			if scheme == "tcn" {
				base += map[string]float64{"50us": 1000, "78us": 2000, "150us": 3000}[values[1]]
			}
			return p99(base + []float64{2, 4, 9}[seed-1])
		})
}

// TestCurvesOverAllSchemes: over the load, tcn has a line for each threshold, and red,
// which the threshold does not concern, has one. Its repeated points count once: the
// interval is that of three seeds, 4.303 times the root of 13/3.
func TestCurvesOverAllSchemes(t *testing.T) {
	g := gridFrom(t, twoSchemes())
	panels, left := g.curves(0, metricOf(t, "small.p99"))
	if len(panels) != 1 || panels[0].Held != "" || left != "" {
		t.Fatalf("%d panels %+v, %q left out", len(panels), panels, left)
	}
	var names []string
	for _, l := range panels[0].Lines {
		names = append(names, l.Name())
		if l.Flat || len(l.Places) != 2 {
			t.Errorf("%s has %d places, flat %v", l.Name(), len(l.Places), l.Flat)
		}
	}
	if want := "tcn threshold 50us, tcn threshold 78us, tcn threshold 150us, red"; strings.Join(names, ", ") != want {
		t.Errorf("lines %v, want %s", names, want)
	}
	e := panels[0].Lines[3].Places[1].Estimate
	if e.Count != 3 || e.Mean != 205 || math.Abs(e.Half-4.303*math.Sqrt(13.0/3)) > 0.001 {
		t.Errorf("red at 0.9 is %+v", e)
	}
	if e := panels[0].Lines[1].Places[0].Estimate; e.Mean != 2105 {
		t.Errorf("tcn with 78us at 0.5 is %+v", e)
	}
}

// TestCurvesOverOneScheme: over a threshold of tcn, red is flat, and each load, which
// both have, has a panel.
func TestCurvesOverOneScheme(t *testing.T) {
	g := gridFrom(t, twoSchemes())
	panels, _ := g.curves(1, metricOf(t, "small.p99"))
	if len(panels) != 2 || panels[0].Held != "load 0.5" || panels[1].Held != "load 0.9" {
		t.Fatalf("panels %+v", panels)
	}
	tcn, red := panels[1].Lines[0], panels[1].Lines[1]
	if tcn.Flat || len(tcn.Places) != 3 || tcn.Places[2].Value != "150us" || tcn.Places[2].Estimate.Mean != 3205 {
		t.Errorf("tcn is %+v", tcn)
	}
	if !red.Flat || len(red.Places) != 1 || red.Places[0].Value != "" || red.Places[0].Estimate.Count != 3 {
		t.Errorf("red is %+v", red)
	}
	drawn := red.spread([]float64{50, 78, 150})
	if len(drawn) != 2 || drawn[0].x != 50 || drawn[1].x != 150 {
		t.Errorf("red is drawn at %+v, want from end to end", drawn)
	}
}

// TestMissing: what is not measured has no place, and its absence is told.
func TestMissing(t *testing.T) {
	s := twoSchemes()
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { // of 18 points of tcn and 6 of red
		return p.Scheme == "tcn" && p.Values[1] == "78us" && p.Values[0] == "0.9" || p.Seed == 3 && p.Values[0] == "0.9"
	})
	v := viewOf(t, s, Options{})
	for _, l := range v.Panels[0].Lines {
		want := []int{3, 2}
		if l.Name() == "tcn threshold 78us" {
			want = []int{3}
		}
		var got []int
		for _, p := range l.Places {
			got = append(got, p.Estimate.Count)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has %v seeds, want %v", l.Name(), got, want)
		}
	}
	// Of tcn are missing one cell of three seeds and the third seed of two, and of red one.
	if warning := "6 of 24 points are not measured"; !strings.HasPrefix(v.Warnings[0], warning) {
		t.Errorf("warnings %q, want %s", v.Warnings, warning)
	}
}

// TestRepeatedPointsMayBeMissing: one point of a scheme that an axis does not concern
// stands for all values.
func TestRepeatedPointsMayBeMissing(t *testing.T) {
	s := twoSchemes()
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return p.Scheme == "red" && p.Values[1] != "78us" })
	v := viewOf(t, s, Options{Over: []string{"schemes.tcn.threshold"}})
	if strings.Contains(strings.Join(v.Warnings, " "), "not measured") || len(v.Panels[0].Lines) != 2 {
		t.Errorf("%q, %+v", v.Warnings, v.Panels[0])
	}
}

func TestOneSeed(t *testing.T) {
	s := twoSchemes()
	s.Points = slices.DeleteFunc(s.Points, func(p Point) bool { return p.Seed > 1 })
	v := viewOf(t, s, Options{})
	for _, l := range v.Panels[0].Lines {
		for _, p := range l.Places {
			if _, _, ok := p.Estimate.Interval(); ok || p.Estimate.Count != 1 {
				t.Errorf("%s at %s: %+v", l.Name(), p.Value, p.Estimate)
			}
		}
	}
	for _, e := range v.Effects {
		if e.Noise != nil || e.Beyond {
			t.Errorf("%+v knows noise", e)
		}
	}
	if !strings.HasPrefix(v.Warnings[0], "With one seed") {
		t.Errorf("warnings %q", v.Warnings)
	}
}

// TestManyValues: what does not fit is left out evenly, ends stay, and it is said.
func TestManyValues(t *testing.T) {
	g := gridFrom(t, typical(14, 1))
	panels, left := g.curves(0, metricOf(t, "small.p99"))
	if len(panels) > maxPanels || len(panels[0].Lines) > maxLines {
		t.Errorf("%d panels of %d lines", len(panels), len(panels[0].Lines))
	}
	if want := "12 of 14 values of host.rto_min, 7 of 14 values of schemes.tcn.threshold"; left != want {
		t.Errorf("left out: %q, want %q", left, want)
	}
	if first, last := panels[0].Held, panels[len(panels)-1].Held; first != "rto_min 1ms" || last != "rto_min 14ms" {
		t.Errorf("from %s to %s", first, last)
	}
	for _, c := range []struct {
		levels, n int
		want      []int
	}{{5, 1, []int{2}}, {5, 2, []int{0, 4}}, {5, 3, []int{0, 2, 4}}, {9, 3, []int{0, 4, 8}}, {3, 3, []int{0, 1, 2}}, {14, 4, []int{0, 4, 9, 13}}} {
		if got := spread(c.levels, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%d of %d levels: %v, want %v", c.n, c.levels, got, c.want)
		}
	}
}

// TestShortKeys: the last word tells, unless two keys have it.
func TestShortKeys(t *testing.T) {
	g := &grid{axes: []Axis{{Key: "workload.load"}, {Key: "background.load"}, {Key: "rtt.min"}, {Key: "schemes.red.min"}, {Key: "seeds"}, {Key: "schemes.red.low with schemes.red.high"}}}
	for i, want := range []string{"workload.load", "background.load", "rtt.min", "min", "seeds", "low with high"} {
		if got := g.short(i); got != want {
			t.Errorf("%s in short is %s, want %s", g.axes[i].Key, got, want)
		}
	}
}

// TestMaps: a map is of a scheme that both axes concern. The lowest are framed: at each
// load, which is a condition, or of all where both axes are settings.
func TestMaps(t *testing.T) {
	g := gridFrom(t, twoSchemes())
	maps, left := g.maps([2]int{0, 1}, []int{1}, metricOf(t, "small.p99"))
	if len(maps) != 1 || maps[0].Scheme != "tcn" || len(maps[0].Spots) != 6 || left != "" {
		t.Fatalf("maps %+v, %q left out", maps, left)
	}
	for _, s := range maps[0].Spots {
		if want := s.Y == "50us"; s.Best != want {
			t.Errorf("%+v is the best: %v", s, s.Best)
		}
	}
	maps, _ = g.maps([2]int{1, 0}, []int{1}, metricOf(t, "small.p99"))
	for _, s := range maps[0].Spots {
		if want := s.X == "50us"; s.Best != want {
			t.Errorf("turned, %+v is the best: %v", s, s.Best)
		}
	}
	maps, _ = g.maps([2]int{0, 1}, []int{0, 1}, metricOf(t, "small.p99"))
	for _, s := range maps[0].Spots {
		if want := s.X == "0.5" && s.Y == "50us"; s.Best != want {
			t.Errorf("of settings, %+v is the best: %v", s, s.Best)
		}
	}
	many, left := gridFrom(t, typical(14, 1)).maps([2]int{0, 1}, []int{1, 2}, metricOf(t, "completed"))
	if len(many) != 12 || left != "12 of 14 values of host.rto_min" || many[0].Name() != "tcn rto_min 1ms" {
		t.Errorf("%d maps, %q left out", len(many), left)
	}
}
