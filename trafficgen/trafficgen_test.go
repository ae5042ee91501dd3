package trafficgen

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// paperSpec is the testbed of the TCN paper: nine hosts, 1 Gbps, four services.
func paperSpec() Spec {
	return Spec{
		Hosts: 9, Rate: units.Gbps, Load: 0.6, Flows: 2000,
		Sizes:    kind.Choice{Kind: "websearch"},
		Arrival:  kind.Choice{Kind: "poisson"},
		Pattern:  "many-to-one",
		Racks:    []int{0, 0, 0, 1, 1, 1, 2, 2, 2},
		Services: []int{1, 1, 1, 1},
		Seed:     1,
	}
}

// withSpec is the trace of paperSpec after a change.
func withSpec(t *testing.T, change func(*Spec)) []traffic.Flow {
	t.Helper()
	spec := paperSpec()
	change(&spec)
	flows, err := Trace(spec)
	if err != nil {
		t.Fatal(err)
	}
	return flows
}

func column[T any](flows []traffic.Flow, get func(traffic.Flow) T) []T {
	out := make([]T, len(flows))
	for i, f := range flows {
		out[i] = get(f)
	}
	return out
}

func start(f traffic.Flow) time.Duration { return f.Start }
func size(f traffic.Flow) int64          { return f.Bytes }
func service(f traffic.Flow) int         { return f.Service }
func ends(f traffic.Flow) [2]int         { return [2]int{f.Client, f.Server} }

func TestTraceIsOrderedAndWhole(t *testing.T) {
	for _, pattern := range Patterns() {
		flows := withSpec(t, func(s *Spec) { s.Pattern = pattern })
		if len(flows) != 2000 {
			t.Fatalf("%s: %d flows, want 2000", pattern, len(flows))
		}
		last := time.Duration(1)
		for i, f := range flows {
			ok := f.ID == i && f.Start >= last && f.Bytes >= 1 && f.Client != f.Server &&
				0 <= f.Client && f.Client < 9 && 0 <= f.Server && f.Server < 9 && 0 <= f.Service && f.Service < 4
			if !ok {
				t.Fatalf("%s: flow %d is %+v after %v", pattern, i, f, last)
			}
			last = f.Start
		}
	}
}

func TestStreamsAreSeparate(t *testing.T) {
	base := withSpec(t, func(*Spec) {})
	type kept struct{ starts, sizes, ends, services bool }
	for name, c := range map[string]struct {
		change func(*Spec)
		want   kept
	}{
		"nothing":  {func(*Spec) {}, kept{true, true, true, true}},
		"load":     {func(s *Spec) { s.Load = 0.3 }, kept{false, true, true, true}},
		"rate":     {func(s *Spec) { s.Rate = 10 * units.Gbps }, kept{false, true, true, true}},
		"sizes":    {func(s *Spec) { s.Sizes.Kind = "cache" }, kept{false, false, true, true}},
		"hosts":    {func(s *Spec) { s.Hosts, s.Racks = 8, nil }, kept{true, true, false, true}},
		"services": {func(s *Spec) { s.Services = []int{1, 2} }, kept{true, true, true, false}},
		"pattern":  {func(s *Spec) { s.Pattern = "all-to-all" }, kept{false, true, false, true}},
		"seed":     {func(s *Spec) { s.Seed = 2 }, kept{false, false, false, false}},
	} {
		other := withSpec(t, c.change)
		got := kept{
			slices.Equal(column(base, start), column(other, start)),
			slices.Equal(column(base, size), column(other, size)),
			slices.Equal(column(base, ends), column(other, ends)),
			slices.Equal(column(base, service), column(other, service)),
		}
		if got != c.want {
			t.Errorf("changed %s: kept %+v, want %+v", name, got, c.want)
		}
	}
}

func TestFewerFlowsAreAPrefix(t *testing.T) {
	long := withSpec(t, func(*Spec) {})
	short := withSpec(t, func(s *Spec) { s.Flows = 100 })
	if !slices.Equal(short, long[:100]) {
		t.Error("the first 100 flows differ from a trace of 100 flows")
	}
}

// Twice the load halves every start time, up to the rounding of each gap.
func TestLoadRescalesStarts(t *testing.T) {
	slow := withSpec(t, func(s *Spec) { s.Load = 0.45 })
	fast := withSpec(t, func(s *Spec) { s.Load = 0.9 })
	for i := range slow {
		if off := (slow[i].Start - 2*fast[i].Start).Abs(); off > time.Duration(2*(i+1)) {
			t.Fatalf("flow %d starts at %v and %v", i, slow[i].Start, fast[i].Start)
		}
	}
}

func TestServiceWeights(t *testing.T) {
	for _, weights := range [][]int{nil, {1}, {1, 1, 1, 1}, {8, 1, 0, 4, 2}, {0, 0, 3}} {
		flows := withSpec(t, func(s *Spec) { s.Flows, s.Services = 50_000, weights })
		shares := []float64{1}
		if weights != nil {
			shares = nil
		}
		for _, w := range weights {
			shares = append(shares, float64(w))
		}
		counts := make([]int, len(shares))
		for _, s := range column(flows, service) {
			counts[s]++
		}
		checkShares(t, counts, shares)
	}
}

func TestTraceErrors(t *testing.T) {
	for want, change := range map[string]func(*Spec){
		"hosts: 1 is too few":                          func(s *Spec) { s.Hosts = 1 },
		"rate: 0 bit/s is not above zero":              func(s *Spec) { s.Rate = 0 },
		"load: 0 is outside (0, 1]":                    func(s *Spec) { s.Load = 0 },
		"load: 1.1 is outside (0, 1]":                  func(s *Spec) { s.Load = 1.1 },
		"load: NaN is outside (0, 1]":                  func(s *Spec) { s.Load = math.NaN() },
		"flows: 0 is too few":                          func(s *Spec) { s.Flows = 0 },
		"services: weight -1 of service 1 is outside":  func(s *Spec) { s.Services = []int{1, -1} },
		"services: all weights are zero":               func(s *Spec) { s.Services = []int{0, 0} },
		"services: 65 weights are too many":            func(s *Spec) { s.Services = make([]int, 65) },
		"unknown pattern \"ring\": want one of many-t": func(s *Spec) { s.Pattern = "ring" },
		"sizes: unknown kind \"\": want one of":        func(s *Spec) { s.Sizes.Kind = "" },
		"sizes: fixed: size: 0B is outside":            func(s *Spec) { s.Sizes.Kind = "fixed" },
		"arrival: unknown kind \"burst\": want ":       func(s *Spec) { s.Arrival.Kind = "burst" },
		"2000 flows at load 0.6 of 1bps would take":    func(s *Spec) { s.Rate = 1 },
		"racks: 2 of 9 hosts have one":                 func(s *Spec) { s.Racks = []int{0, 1} },
		"host: 9 is outside 0 to 8":                    func(s *Spec) { s.Host = 9 },
		"pattern inter-rack: all hosts are in one":     func(s *Spec) { s.Pattern, s.Racks = "inter-rack", nil },
		"unknown rule for services \"client\": want ":  func(s *Spec) { s.ServiceBy = "client" },
		"unknown shares of services \"packets\": want": func(s *Spec) { s.SharesOf = "packets" },
		"services share bytes with poisson arrivals on": func(s *Spec) {
			s.SharesOf, s.Arrival = OfBytes, kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 3}}
		},
		"services by pair: 5000 hosts have too many":   func(s *Spec) { s.ServiceBy, s.Hosts, s.Racks = ByPair, 5000, nil },
		"sizes: unknown kind \"\": want":               func(s *Spec) { s.ServiceSizes = []kind.Choice{{}} },
		"background 1: arrival: unknown kind":          func(s *Spec) { s.Background = []Spec{{Pattern: "all-to-all", Sizes: s.Sizes}} },
		"background 1: it has a background of its own": func(s *Spec) { b := *s; b.Background = []Spec{b}; s.Background = []Spec{b} },
	} {
		spec := paperSpec()
		change(&spec)
		flows, err := Trace(spec)
		if err == nil || flows != nil || !strings.HasPrefix(err.Error(), "drawing flows: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if check := spec.Check(); check == nil || err != nil && check.Error() != err.Error() {
			t.Errorf("checking gives %v, drawing %v", check, err)
		}
	}
	spec := paperSpec()
	if err := spec.Check(); err != nil {
		t.Error(err)
	}
	spec.Pattern = "ring"
	if _, err := Trace(spec); !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("unknown pattern: error %v, want %v", err, kind.ErrUnknown)
	}
}

func TestTraceReadsFilesFromDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/own.csv", []byte("7,0\n7,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	flows := withSpec(t, func(s *Spec) {
		s.Dir, s.Sizes = dir, kind.Choice{Kind: "cdf", Params: map[string]any{"file": "own.csv"}}
	})
	if slices.ContainsFunc(flows, func(f traffic.Flow) bool { return f.Bytes != 7 }) {
		t.Error("a flow that is not of the only size in the file")
	}
}

var update = flag.Bool("update", false, "write the golden files")

// The golden pins the trace across machines, compilers and releases; that it is
// a right trace is what the other tests say. Each entry is a change of paperSpec.
func TestTraceGolden(t *testing.T) {
	var got strings.Builder
	for _, c := range []struct {
		name   string
		change func(*Spec)
	}{
		{"many-to-one", func(*Spec) {}},
		{"all-to-all", func(s *Spec) { s.Pattern = "all-to-all" }},
		{"one-to-many", func(s *Spec) { s.Pattern = "one-to-many" }},
		{"inter-rack", func(s *Spec) { s.Pattern = "inter-rack" }},
		{"pareto", func(s *Spec) { s.Sizes.Kind = "pareto" }},
		{"pairs", func(s *Spec) {
			s.Pattern, s.ServiceBy = "all-to-all", ByPair
			s.ServiceSizes = []kind.Choice{{Kind: "websearch"}, {Kind: "datamining"}, {Kind: "cache"}}
		}},
		{"pair numbers", func(s *Spec) {
			s.Pattern, s.ServiceBy, s.SharesOf, s.Services = "all-to-all", ByPairNumber, OfBytes, []int{1, 2, 1}
			s.ServiceSizes = []kind.Choice{{Kind: "websearch"}, {Kind: "datamining"}, {Kind: "cache"}}
		}},
		{"incast", func(s *Spec) {
			s.Pattern = "all-to-all"
			s.Arrival = kind.Choice{Kind: "incast", Params: map[string]any{"fan_out": 3, "fan_out_max": 30}}
		}},
		{"background", ecnSharpQueries},
	} {
		flows := withSpec(t, func(s *Spec) {
			s.Flows = 10_000
			c.change(s)
		})
		hash := sha256.New()
		for _, f := range flows {
			fmt.Fprintln(hash, f.ID, int64(f.Start), f.Client, f.Server, f.Bytes, f.Service)
		}
		fmt.Fprintf(&got, "%s sha256 %x\n", c.name, hash.Sum(nil))
		for _, f := range flows[:5] {
			fmt.Fprintf(&got, "%d %d %d>%d %dB service %d\n", f.ID, f.Start, f.Client, f.Server, f.Bytes, f.Service)
		}
	}
	const golden = "testdata/trace.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("trace\n%s\nwant\n%s", got.String(), want)
	}
}
