package response

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
)

func TestConcerns(t *testing.T) {
	schemes := []string{"tcn", "tcn.x", "red"}
	for _, c := range []struct {
		key, scheme string
		want        bool
	}{
		{"workload.load", "tcn", true}, {"host.rto_min", "red", true},
		{"schemes.tcn.threshold", "tcn", true}, {"schemes.tcn.threshold", "red", false},
		{"schemes.tcn.x.threshold", "tcn.x", true}, {"schemes.tcn.x.threshold", "tcn", false},
		{"schemes.tcn.threshold with schemes.red.min", "red", true}, {"schemes.tcn.a with schemes.tcn.b", "red", false},
		{"schemes.tcn.threshold with host.rto_min", "red", true},
		{"schemes.later.threshold", "tcn", false}, // nothing of it is measured yet
	} {
		if got := concerns(c.key, c.scheme, schemes); got != c.want {
			t.Errorf("%s concerns %s: %v", c.key, c.scheme, got)
		}
	}
}

// TestLoadsWithoutAxis: a lab may have several loads that nobody named as an axis. They
// are one.
func TestLoadsWithoutAxis(t *testing.T) {
	s := Set{Axes: []Axis{axis("host.rto_min", "1ms 2ms")}}
	for _, load := range []float64{0.9, 0.5} {
		for _, v := range s.Axes[0].Values {
			s.Points = append(s.Points, Point{Values: []string{v}, Coord: results.Coord{Scheme: "a", Load: load, Seed: 1}, Figures: p99(load)})
		}
	}
	with := s.withLoads()
	if len(with.Axes) != 2 || with.Axes[1].Key != "workload.load" || !slices.Equal(with.Axes[1].Values, []string{"0.5", "0.9"}) {
		t.Fatalf("axes %+v", with.Axes)
	}
	if got := with.Points[0].Values; !slices.Equal(got, []string{"1ms", "0.9"}) {
		t.Errorf("the first point is at %v", got)
	}
	if again := with.withLoads(); len(again.Axes) != 2 {
		t.Errorf("axes %+v", again.Axes)
	}
	one := Set{Axes: s.Axes, Points: s.Points[:2]}
	if got := one.withLoads(); len(got.Axes) != 1 {
		t.Errorf("one load became an axis: %+v", got.Axes)
	}
}

// TestHeld: what is held leaves the other values out, but of schemes that the key does
// not concern it leaves all.
func TestHeld(t *testing.T) {
	s := sheet([]Axis{axis("schemes.tcn.threshold", "50us 78us"), axis("workload.load", "0.5 0.9")}, "tcn red", 1,
		func(string, []string, uint64) map[string]float64 { return p99(1) })
	held, err := s.at(map[string]string{"schemes.tcn.threshold": "78us"})
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, p := range held.Points {
		count[p.Scheme]++
		if p.Scheme == "tcn" && p.Values[0] != "78us" {
			t.Errorf("%v is there at %v", p.Coord, p.Values)
		}
	}
	if count["tcn"] != 2 || count["red"] != 4 || len(held.Axes[0].Values) != 1 {
		t.Errorf("%v points at %+v", count, held.Axes)
	}
	if len(s.Axes[0].Values) != 2 || len(s.Points) != 8 {
		t.Error("the set that was given has changed")
	}
}

// TestMetricsThatAreThere: without flows of a class, those of all flows are shown.
func TestMetricsThatAreThere(t *testing.T) {
	for _, c := range []struct {
		figures map[string]float64
		o       Options
		want    string
	}{
		{map[string]float64{"small.p99": 1, "all.p99": 1, "large.avg": 1, "all.avg": 1}, Options{}, "small.p99 small.p99 large.avg"},
		{map[string]float64{"small.p99": 1, "all.p99": 1, "all.avg": 1}, Options{}, "small.p99 small.p99 all.avg"},
		{map[string]float64{"all.p99": 1, "all.avg": 1}, Options{}, "all.p99 all.p99 all.avg"},
		{map[string]float64{"all.p99": 1}, Options{Metric: "small.p99", Front: [2]string{"marks", "drops"}}, "small.p99 marks drops"},
		{nil, Options{}, "small.p99 small.p99 large.avg"},
	} {
		s := sheet([]Axis{axis("workload.load", "0.5 0.9")}, "tcn", 2, func(string, []string, uint64) map[string]float64 { return c.figures })
		v := viewOf(t, s, c.o)
		if got := strings.Join([]string{v.Metric.Name, v.Front[0].Name, v.Front[1].Name}, " "); got != c.want {
			t.Errorf("%v, %+v: %s, want %s", c.figures, c.o, got, c.want)
		}
		missing := 0
		for _, m := range v.metrics() {
			if _, ok := c.figures[m.Name]; !ok {
				missing++
			}
		}
		if len(v.Warnings) != missing {
			t.Errorf("%v: warnings %q, want %d", c.figures, v.Warnings, missing)
		}
	}
}

// TestProgramsAlone: a lab of programs shows their figures, with their units.
func TestProgramsAlone(t *testing.T) {
	s := sheet([]Axis{axis("schemes.tcn.threshold", "50us 100us")}, "tcn", 2, func(string, []string, uint64) map[string]float64 {
		return map[string]float64{"programs.client.get.p99": 300}
	})
	for i := range s.Points {
		s.Points[i].Programs = []results.Metric{{Name: "programs.client.get.p99", Unit: "us", Lower: true}}
	}
	v := viewOf(t, s, Options{})
	if v.Metric.Name != "programs.client.get.p99" || v.Metric.Unit != "us" || len(v.Warnings) > 0 {
		t.Errorf("%+v, %q", v.Metric, v.Warnings)
	}
	var out strings.Builder
	if err := v.WriteCSV(&out); err != nil || !strings.Contains(out.String(), "programs.client.get.p99,us,2,300") {
		t.Errorf("%s%v", &out, err)
	}
	if _, err := New(s, Options{Metric: "programs.client.set"}); !errors.Is(err, results.ErrNoMetric) || !strings.Contains(err.Error(), "programs.client.get.p99") {
		t.Errorf("another metric: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	s := sheet([]Axis{axis("workload.load", "0.5 0.9")}, "tcn", 1, func(string, []string, uint64) map[string]float64 { return p99(1) })
	short := Set{Axes: s.Axes, Points: []Point{{}}}
	strange := Set{Axes: s.Axes, Points: []Point{{Values: []string{"0.7"}}}}
	for _, c := range []struct {
		set  Set
		o    Options
		err  error
		says string
	}{
		{Set{}, Options{}, ErrNoPoints, ""},
		{s, Options{Metric: "small"}, results.ErrNoMetric, "small.p99"},
		{s, Options{Front: [2]string{"", "large"}}, results.ErrNoMetric, "large.avg"},
		{s, Options{Over: []string{"load"}}, ErrNoAxis, "want one of workload.load"},
		{s, Options{Settings: []string{"load"}}, ErrNoAxis, ""},
		{s, Options{At: map[string]string{"load": "1"}}, ErrNoAxis, ""},
		{s, Options{At: map[string]string{"workload.load": "1"}}, ErrNoValue, "want one of 0.5, 0.9"},
		{s, Options{Over: []string{"workload.load", "workload.load"}}, nil, "two different ones"},
		{short, Options{}, nil, "0 values for 1 axes"},
		{strange, Options{}, ErrNoValue, `"0.7" of workload.load`},
	} {
		_, err := New(c.set, c.o)
		if err == nil || c.err != nil && !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: error %v, want %v with %q", c.o, err, c.err, c.says)
		}
	}
}
