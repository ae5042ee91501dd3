package trafficgen

import (
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// The microscopic view of the ECN# paper: queries of 100 flows beside web
// search traffic.
func ecnSharpQueries(s *Spec) {
	s.Background = []Spec{
		{
			Arrival: kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 100, "queries": 2, "start": "40ms", "gap": "1ms"}},
			Sizes:   kind.Choice{Kind: "uniform", Params: map[string]any{"min": "3KB", "max": "60KB"}},
			Pattern: "many-to-one",
			Push:    true,
		},
		{
			Arrival: kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 3, "queries": 1, "start": "1ms"}},
			Sizes:   kind.Choice{Kind: "websearch"},
			Pattern: "all-to-all",
		},
	}
}

func TestBackgroundIsMergedByStart(t *testing.T) {
	flows := withSpec(t, ecnSharpQueries)
	if len(flows) != 2000+200+3 {
		t.Fatalf("%d flows, want 2203", len(flows))
	}
	var last time.Duration
	byWorkload := map[int]int{}
	queries := map[int]map[int]int{1: {}, 2: {}}
	for i, f := range flows {
		if f.ID != i || f.Start < last {
			t.Fatalf("flow %d is %+v after %v", i, f, last)
		}
		last = f.Start
		byWorkload[f.Workload]++
		if f.Push != (f.Workload == 1) || (f.Query > 0) != (f.Workload > 0) {
			t.Fatalf("flow %+v", f)
		}
		if f.Workload > 0 {
			queries[f.Workload][f.Query]++
		}
	}
	if byWorkload[0] != 2000 || byWorkload[1] != 200 || byWorkload[2] != 3 {
		t.Errorf("flows by workload %v", byWorkload)
	}
	// Queries are numbered on from workload to workload.
	if q := queries[1]; len(q) != 2 || q[1] != 100 || q[2] != 100 {
		t.Errorf("queries %v, want 1 and 2 of 100 flows each", q)
	}
	if q := queries[2]; len(q) != 1 || q[3] != 3 {
		t.Errorf("queries %v, want number 3 of 3 flows", q)
	}
}

// What is beside a workload does not change it, and each has a stream of its own.
func TestBackgroundLeavesTheRestAlone(t *testing.T) {
	plain := func(flows []traffic.Flow, workload int) []traffic.Flow {
		flows = slices.DeleteFunc(slices.Clone(flows), func(f traffic.Flow) bool { return f.Workload != workload })
		for i := range flows {
			flows[i].ID, flows[i].Workload = 0, 0
		}
		return flows
	}
	alone := withSpec(t, func(*Spec) {})
	twice := withSpec(t, func(s *Spec) { s.Background = []Spec{paperSpec()} })
	if !slices.Equal(plain(alone, 0), plain(twice, 0)) {
		t.Error("the workload differs from that without background")
	}
	if slices.Equal(column(plain(twice, 0), size), column(plain(twice, 1), size)) {
		t.Error("workload and background have the same sizes")
	}
	if last := len(alone) - 1; len(twice) != 4000 || alone[last].Start != plain(twice, 0)[last].Start {
		t.Errorf("%d flows, want 4000", len(twice))
	}
}

// Background takes over what it has in common, and the load only if it has none.
func TestBackgroundTakesOver(t *testing.T) {
	bare := func(load float64) Spec {
		s := paperSpec()
		return Spec{Flows: s.Flows, Sizes: s.Sizes, Arrival: s.Arrival, Pattern: s.Pattern, Services: s.Services, Load: load}
	}
	span := func(load float64) time.Duration {
		flows := withSpec(t, func(s *Spec) { s.Background = []Spec{bare(load)} })
		return slices.MaxFunc(flows, func(a, b traffic.Flow) int { return a.Workload - b.Workload }).Start
	}
	if same, half := span(0), span(0.3); span(0.6) != same || (half-2*same).Abs() > time.Microsecond {
		t.Errorf("the first flow at load 0.6 starts at %v, at 0.3 at %v", same, half)
	}
}

func TestEnd(t *testing.T) {
	for want, flows := range map[time.Duration][]traffic.Flow{
		0: nil,
		5: {{Start: 3}, {Start: 5}},
		9: {{Start: 3, Stop: 9}, {Start: 5}},
	} {
		if got := traffic.End(flows); got != want {
			t.Errorf("the end of %+v is %v, want %v", flows, got, want)
		}
	}
}
