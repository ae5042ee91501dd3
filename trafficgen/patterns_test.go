package trafficgen

import (
	"maps"
	"slices"
	"testing"

	"aqmlab/trafficgen/traffic"
)

func TestEndpointsAreUniform(t *testing.T) {
	count := func(pattern string, shares map[[2]int]float64) {
		counts := map[[2]int]int{}
		for _, e := range column(withSpec(t, func(s *Spec) { s.Flows, s.Pattern = 50_000, pattern }), ends) {
			counts[e]++
		}
		var got []int
		for pair := range shares {
			got = append(got, counts[pair])
			delete(counts, pair)
		}
		if len(counts) > 0 {
			t.Errorf("%s: unexpected pairs %v", pattern, counts)
		}
		checkShares(t, got, slices.Collect(maps.Values(shares)))
	}
	in, out, all, across := map[[2]int]float64{}, map[[2]int]float64{}, map[[2]int]float64{}, map[[2]int]float64{}
	for client := range 9 {
		for server := range 9 {
			if client != server {
				all[[2]int{client, server}] = 1
			}
			if client/3 != server/3 {
				across[[2]int{client, server}] = 1
			}
		}
		if client > 0 {
			in[[2]int{0, client}], out[[2]int{client, 0}] = 1, 1
		}
	}
	count("many-to-one", in)
	count("one-to-many", out)
	count("all-to-all", all)
	count("inter-rack", across)
}

func TestTheOneHostMayBeAny(t *testing.T) {
	for pattern, one := range map[string]func(traffic.Flow) int{
		"many-to-one": func(f traffic.Flow) int { return f.Client },
		"one-to-many": func(f traffic.Flow) int { return f.Server },
	} {
		flows := withSpec(t, func(s *Spec) { s.Pattern, s.Host = pattern, 4 })
		others := map[int]bool{}
		for _, f := range flows {
			others[f.Client+f.Server-4] = true
			if one(f) != 4 {
				t.Fatalf("%s: flow %+v without host 4", pattern, f)
			}
		}
		if len(others) != 8 || others[4] {
			t.Errorf("%s: host 4 meets %v", pattern, others)
		}
	}
}

// Clients are uniform, and servers among those of other racks, also where the
// racks are not of one size.
func TestInterRackWithUnequalRacks(t *testing.T) {
	flows := withSpec(t, func(s *Spec) {
		s.Hosts, s.Racks, s.Pattern, s.Flows = 4, []int{0, 0, 0, 1}, "inter-rack", 40_000
	})
	counts := map[[2]int]int{}
	for _, e := range column(flows, ends) {
		counts[e]++
	}
	var got []int
	for _, pair := range [][2]int{{0, 3}, {1, 3}, {2, 3}, {3, 0}, {3, 1}, {3, 2}} {
		got = append(got, counts[pair])
	}
	checkShares(t, got, []float64{3, 3, 3, 1, 1, 1})
	if len(counts) != 6 {
		t.Errorf("pairs %v, want six", counts)
	}
}

// TestServes: whom a pattern has never serve, unless other traffic does, or flows
// that were not drawn.
func TestServes(t *testing.T) {
	one := Spec{Pattern: "many-to-one", Host: 2}
	replay := one
	replay.Arrival.Kind = "trace"
	beside := one
	beside.Background = []Spec{{Pattern: "many-to-one", Host: 2}, {Pattern: "inter-rack"}}
	for name, tt := range map[string]struct {
		spec      Spec
		one, rest bool
	}{
		"many-to-one":      {one, false, true},
		"one-to-many":      {Spec{Pattern: "one-to-many", Host: 2}, true, false},
		"all-to-all":       {Spec{Pattern: "all-to-all", Host: 2}, true, true},
		"a trace":          {replay, true, true},
		"other background": {beside, true, true},
	} {
		if got := tt.spec.Serves(2); got != tt.one {
			t.Errorf("%s: the one serves: %v, want %v", name, got, tt.one)
		}
		if got := tt.spec.Serves(1); got != tt.rest {
			t.Errorf("%s: another serves: %v, want %v", name, got, tt.rest)
		}
	}
}
