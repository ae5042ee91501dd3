package trafficgen

import (
	"math"
	"testing"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// offered is the payload that flows carry over the hosts' links that a pattern
// loads, over their capacity, and by how much its sample may be off: over n
// flows the bytes are off by the sizes' relative deviation over sqrt(n), and the
// time by one over sqrt(n).
func offered(flows []traffic.Flow, spec Spec) (load, tolerance float64) {
	mean, deviation := moments(column(flows, size))
	n, links := float64(len(flows)), 1.0
	if spec.Pattern == "all-to-all" || spec.Pattern == "inter-rack" {
		links = float64(spec.Hosts)
	}
	seconds := flows[len(flows)-1].Start.Seconds()
	return mean * n * 8 / seconds / float64(spec.Rate) / links, 4 * math.Sqrt((1+deviation*deviation/mean/mean)/n)
}

func checkLoad(t *testing.T, name string, spec Spec) {
	t.Helper()
	flows, err := Trace(spec)
	if err != nil {
		t.Fatal(err)
	}
	if load, tolerance := offered(flows, spec); math.Abs(load/spec.Load-1) > tolerance {
		t.Errorf("%s: offered %.4f of the capacity, want %v within %.1f %%", name, load, spec.Load, 100*tolerance)
	}
}

func TestLoadIsPayloadOverCapacity(t *testing.T) {
	for _, pattern := range Patterns() {
		spec := paperSpec()
		spec.Flows, spec.Pattern, spec.Rate = 100_000, pattern, 10*units.Gbps
		checkLoad(t, pattern, spec)
	}
}

// In patterns that load every link, each of them carries the load.
func TestEveryLinkHasTheLoad(t *testing.T) {
	for _, pattern := range []string{"all-to-all", "inter-rack"} {
		flows := withSpec(t, func(s *Spec) {
			s.Pattern, s.Flows, s.Sizes = pattern, 90_000, kind.Choice{Kind: "fixed", Params: map[string]any{"size": "1KB"}}
		})
		counts := make([]int, 9)
		for _, f := range flows {
			counts[f.Client]++
		}
		checkShares(t, counts, []float64{1, 1, 1, 1, 1, 1, 1, 1, 1})
	}
}

// Services with sizes of their own weigh as much as they have flows or bytes:
// here the means are 2 KB and 20 KB, and the weights 3 and 1. Of the flows the
// large ones are a quarter, or a thirtieth of the small ones, of which three
// times as many bytes take thirty times as many.
func TestLoadIsTheMeanOverServices(t *testing.T) {
	for of, flows := range map[string][]float64{OfFlows: {3, 1}, OfBytes: {30, 1}} {
		for _, rule := range []string{ByFlow, ByPair} {
			spec := paperSpec()
			spec.Flows, spec.Pattern, spec.Services, spec.ServiceBy, spec.SharesOf = 100_000, "all-to-all", []int{3, 1}, rule, of
			spec.ServiceSizes = []kind.Choice{
				{Kind: "fixed", Params: map[string]any{"size": "2KB"}},
				{Kind: "fixed", Params: map[string]any{"size": "20KB"}},
			}
			checkLoad(t, of+" by "+rule, spec)
			counts := make([]int, 2)
			for _, f := range withSpec(t, func(s *Spec) { *s = spec }) {
				counts[f.Service]++
			}
			checkShares(t, counts, flows)
		}
	}
}

func TestLoadOfIncast(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"one size for all":   {"fan_out": 8},
		"a drawn fan-out":    {"fan_out": 2, "fan_out_max": 20},
		"one size together":  {"fan_out": 2, "fan_out_max": 20, "total": "1MB"},
		"a number of rounds": {"fan_out": 10, "queries": 10_000},
	} {
		spec := paperSpec()
		spec.Flows, spec.Arrival = 100_000, kind.Choice{Kind: "incast", Params: params}
		spec.Sizes = kind.Choice{Kind: "uniform", Params: map[string]any{"min": "3KB", "max": "60KB"}}
		flows, err := Trace(spec)
		if err != nil {
			t.Fatal(err)
		}
		// The time is that of the queries, of which there are fewer than flows,
		// and which are of the same relative deviation at most.
		queries := flows[len(flows)-1].Query
		load, _ := offered(flows, spec)
		if tolerance := 4 * math.Sqrt(2/float64(queries)); math.Abs(load/0.6-1) > tolerance {
			t.Errorf("%s: offered %.4f of the capacity, want 0.6 within %.1f %%", name, load, 100*tolerance)
		}
	}
}
