package trafficgen

import (
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// withIncast is the trace of paperSpec with an incast after a change.
func withIncast(t *testing.T, params map[string]any, change func(*Spec)) []traffic.Flow {
	t.Helper()
	return withSpec(t, func(s *Spec) {
		s.Arrival = kind.Choice{Kind: "incast", Params: params}
		s.Sizes = kind.Choice{Kind: "uniform", Params: map[string]any{"min": "3KB", "max": "60KB"}}
		change(s)
	})
}

// queriesOf groups a trace.
func queriesOf(flows []traffic.Flow) map[int][]traffic.Flow {
	queries := map[int][]traffic.Flow{}
	for _, f := range flows {
		queries[f.Query] = append(queries[f.Query], f)
	}
	return queries
}

// The incast of the ABQ paper: 80 senders start together at 10 ms, with 32 KB
// each.
func TestIncastOfOneQuery(t *testing.T) {
	flows := withIncast(t, map[string]any{"fan_out": 80, "queries": 1, "start": "10ms"}, func(s *Spec) {
		s.Hosts, s.Racks, s.Load, s.Flows = 81, nil, 0, 0
		s.Sizes = kind.Choice{Kind: "fixed", Params: map[string]any{"size": "32KB"}}
	})
	servers := map[int]bool{}
	for _, f := range flows {
		servers[f.Server] = true
		if f.Start != 10*time.Millisecond || f.Client != 0 || f.Bytes != 32_000 || f.Query != 1 {
			t.Fatalf("flow %+v", f)
		}
	}
	if len(flows) != 80 || len(servers) != 80 {
		t.Errorf("%d flows from %d servers, want 80 from 80", len(flows), len(servers))
	}
}

// Groups are numbered from 1 in order of time; each has one start, one client,
// and its responses spread over all servers of the pattern as evenly as can be.
func TestIncastGroups(t *testing.T) {
	const fan = 20
	for _, pattern := range []string{"many-to-one", "all-to-all", "inter-rack"} {
		flows := withIncast(t, map[string]any{"fan_out": fan}, func(s *Spec) { s.Pattern = pattern })
		queries := queriesOf(flows)
		if len(flows) != 2000 || len(queries) != 100 {
			t.Fatalf("%s: %d flows in %d queries, want 2000 in 100", pattern, len(flows), len(queries))
		}
		reach := 8
		if pattern == "inter-rack" {
			reach = 6
		}
		var last time.Duration
		for n := 1; n <= 100; n++ {
			q := queries[n]
			perServer := map[int]int{}
			for _, f := range q {
				perServer[f.Server]++
				if f.Start != q[0].Start || f.Client != q[0].Client || f.Server == f.Client {
					t.Fatalf("%s: flows %+v and %+v of one query", pattern, q[0], f)
				}
				if pattern == "inter-rack" && f.Server/3 == f.Client/3 {
					t.Fatalf("flow %+v stays in its rack", f)
				}
			}
			for server, count := range perServer {
				if count != fan/reach && count != fan/reach+1 {
					t.Errorf("%s: query %d has %d responses from host %d", pattern, n, count, server)
				}
			}
			if len(q) != fan || len(perServer) != reach || q[0].Start < last {
				t.Errorf("%s: query %d: %d responses from %d hosts at %v after %v", pattern, n, len(q), len(perServer), q[0].Start, last)
			}
			last = q[0].Start
		}
	}
}

// Every fan-out from the one bound to the other is as likely; a trace ends with
// the query that brings enough flows.
func TestIncastDrawsItsFanOut(t *testing.T) {
	queries := queriesOf(withIncast(t, map[string]any{"fan_out": 3, "fan_out_max": 6}, func(s *Spec) { s.Flows = 40_000 }))
	counts, flows := make([]int, 7), 0
	for _, q := range queries {
		counts[len(q)]++
		flows += len(q)
	}
	checkShares(t, counts, []float64{0, 0, 0, 1, 1, 1, 1})
	if flows < 40_000 || flows-len(queries[len(queries)]) >= 40_000 {
		t.Errorf("%d flows, the last query has %d, want it to bring 40,000", flows, len(queries[len(queries)]))
	}
}

func TestIncastSplitsATotal(t *testing.T) {
	flows := withIncast(t, map[string]any{"fan_out": 7, "queries": 3, "total": "100B"}, func(*Spec) {})
	for n, q := range queriesOf(flows) {
		got := column(q, size)
		if want := []int64{15, 15, 14, 14, 14, 14, 14}; !slices.Equal(got, want) {
			t.Errorf("query %d splits 100 bytes into %v, want %v", n, got, want)
		}
	}
}

func TestIncastAtGivenTimes(t *testing.T) {
	flows := withIncast(t, map[string]any{"fan_out": 2, "queries": 3, "start": "4s", "gap": "10ms"}, func(s *Spec) { s.Load = 0 })
	want := []time.Duration{4000, 4000, 4010, 4010, 4020, 4020}
	for i, at := range column(flows, start) {
		if at != want[i]*time.Millisecond {
			t.Errorf("flow %d starts at %v, want %v", i, at, want[i]*time.Millisecond)
		}
	}
}

func TestIncastErrors(t *testing.T) {
	for want, params := range map[string]map[string]any{
		"arrival: incast: fan_out: 0 is outside 1 to 100000":         {"fan_out": 0},
		"arrival: incast: fan_out_max: 3 is outside fan_out, 4":      {"fan_out": 4, "fan_out_max": 3},
		"arrival: incast: total: 5B is outside a byte for each":      {"fan_out": 4, "fan_out_max": 6, "total": "5B"},
		"arrival: incast: queries: -1 is outside 0 to 1000000":       {"fan_out": 4, "queries": -1},
		"arrival: incast: start: -1s is outside 0s to 360000s":       {"fan_out": 4, "start": "-1s"},
		"arrival: incast: gap: -1s is outside 0s to 360000s":         {"fan_out": 4, "gap": "-1s"},
		"500 queries would take about 2083 days":                     {"fan_out": 4, "gap": "100h"},
		"arrival: incast: a query has many servers, pattern one-to-": {"fan_out": 5},
	} {
		spec := paperSpec()
		spec.Arrival = kind.Choice{Kind: "incast", Params: params}
		if params["fan_out"] == 5 {
			spec.Pattern = "one-to-many"
		}
		if _, err := Trace(spec); err == nil || !strings.HasPrefix(err.Error(), "drawing flows: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	spec := paperSpec()
	spec.Arrival, spec.Load = kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 4}}, 0
	if _, err := Trace(spec); err == nil || !strings.Contains(err.Error(), "load: 0 is outside") {
		t.Errorf("without load: error %v", err)
	}
}
