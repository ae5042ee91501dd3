package trafficgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// Each flow starts later than its arrival says by less than the jitter, uniformly: the mean
// of n draws lies within five standard errors, jitter/sqrt(12 n), of the half.
func TestJitterIsUniform(t *testing.T) {
	const n, jitter = 2000, 12 * time.Microsecond
	flows := withStatic(t, map[string]any{"count": []any{n}, "start": []any{"1ms"}, "stop": []any{"1s"}}, func(s *Spec) { s.Jitter = jitter })
	var sum time.Duration
	for _, f := range flows {
		late := f.Start - time.Millisecond
		if late < 0 || late >= jitter {
			t.Fatalf("a flow is %v late, want 0 to less than %v", late, jitter)
		}
		sum += late
	}
	if mean := sum / n; mean < 5610*time.Nanosecond || mean > 6390*time.Nanosecond {
		t.Errorf("flows are %v late on average, want about 6us", mean)
	}
	if !slices.IsSortedFunc(flows, func(a, b traffic.Flow) int { return int(a.Start - b.Start) }) {
		t.Error("flows are not ordered by their starts")
	}
}

// Seeds draw other starts, and the same seed the same.
func TestJitterIsOfTheSeed(t *testing.T) {
	with := func(seed uint64) []traffic.Flow {
		return withStatic(t, map[string]any{"count": []any{8}, "stop": []any{"1s"}}, func(s *Spec) { s.Jitter, s.Seed = time.Microsecond, seed })
	}
	if !slices.Equal(with(1), with(1)) {
		t.Error("one seed gives two traces")
	}
	if slices.Equal(with(1), with(2)) {
		t.Error("two seeds give one trace")
	}
}

// Jitter moves starts, and nothing else that is drawn.
func TestJitterLeavesTheRestAsItIs(t *testing.T) {
	drawn := func(jitter time.Duration) (all []string) {
		flows := withSpec(t, func(s *Spec) {
			s.Arrival = kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 40, "queries": 1, "start": "10ms"}}
			s.Jitter = jitter
		})
		for _, f := range flows {
			all = append(all, fmt.Sprint(f.Client, f.Server, f.Service, f.Bytes, f.Query))
		}
		slices.Sort(all)
		return all
	}
	if plain, late := drawn(0), drawn(time.Millisecond); !slices.Equal(plain, late) {
		t.Errorf("with jitter the flows are\n%v\nwithout\n%v", late, plain)
	}
}

// Traffic in the background is as late as the workload's.
func TestJitterOfBackground(t *testing.T) {
	flows := withSpec(t, func(s *Spec) {
		s.Jitter = 5 * time.Microsecond
		s.Background = []Spec{{Arrival: kind.Choice{Kind: "static", Params: map[string]any{"count": []any{50}, "start": []any{"1ms"}, "stop": []any{"1s"}}}, Sizes: kind.Choice{Kind: "websearch"}, Pattern: "many-to-one"}}
	})
	different := make(map[time.Duration]bool)
	for _, f := range flows {
		if f.Workload != 1 {
			continue
		}
		if late := f.Start - time.Millisecond; late < 0 || late >= 5*time.Microsecond {
			t.Errorf("a flow of the background is %v late", late)
		}
		different[f.Start] = true
	}
	if len(different) < 10 {
		t.Errorf("50 flows have %d starts", len(different))
	}
}

func TestBadJitter(t *testing.T) {
	for want, spec := range map[string]Spec{
		"below zero":                 {Hosts: 2, Rate: 1, Jitter: -1},
		"replayed trace has its own": {Hosts: 2, Rate: 1, Jitter: 1, Arrival: kind.Choice{Kind: "trace"}},
		"stop: 1ms is not above": {
			Hosts: 2, Rate: 1, Jitter: time.Millisecond, Pattern: "many-to-one", Sizes: kind.Choice{Kind: "websearch"},
			Arrival: kind.Choice{Kind: "static", Params: map[string]any{"count": []any{1}, "stop": []any{"1ms"}}},
		},
	} {
		if err := spec.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}
