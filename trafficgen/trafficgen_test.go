package trafficgen

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// paperSpec is the testbed of the TCN paper: nine hosts, 1 Gbps, four services.
func paperSpec() Spec {
	return Spec{
		Hosts: 9, Rate: units.Gbps, Load: 0.6, Flows: 2000,
		Sizes:    kind.Choice{Kind: "websearch"},
		Arrival:  kind.Choice{Kind: "poisson"},
		Pattern:  "many-to-one",
		Services: []int{1, 1, 1, 1},
		Seed:     1,
	}
}

// withSpec is the trace of paperSpec after a change.
func withSpec(t *testing.T, change func(*Spec)) []Flow {
	t.Helper()
	spec := paperSpec()
	change(&spec)
	flows, err := Trace(spec)
	if err != nil {
		t.Fatal(err)
	}
	return flows
}

func column[T any](flows []Flow, get func(Flow) T) []T {
	out := make([]T, len(flows))
	for i, f := range flows {
		out[i] = get(f)
	}
	return out
}

func start(f Flow) time.Duration { return f.Start }
func size(f Flow) int64          { return f.Bytes }
func service(f Flow) int         { return f.Service }
func ends(f Flow) [2]int         { return [2]int{f.Client, f.Server} }

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
		"hosts":    {func(s *Spec) { s.Hosts = 8 }, kept{true, true, false, true}},
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

// The offered payload over a client's capacity is the load. Over n flows the
// bytes are off by the sizes' relative deviation over sqrt(n), and the time by
// 1/sqrt(n).
func TestLoadIsPayloadOverCapacity(t *testing.T) {
	const n = 100_000
	for _, pattern := range Patterns() {
		flows := withSpec(t, func(s *Spec) { s.Flows, s.Pattern, s.Rate = n, pattern, 10*units.Gbps })
		sizes := column(flows, size)
		mean, deviation := moments(sizes)
		clients := 1.0
		if pattern == "all-to-all" {
			clients = 9
		}
		seconds := flows[n-1].Start.Seconds()
		load := mean * n * 8 / seconds / 10e9 / clients
		tolerance := 4 * math.Sqrt((1+deviation*deviation/mean/mean)/n)
		if math.Abs(load/0.6-1) > tolerance {
			t.Errorf("%s: offered %.4f of the capacity, want 0.6 within %.1f %%", pattern, load, 100*tolerance)
		}
	}
}

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
	one, all := map[[2]int]float64{}, map[[2]int]float64{}
	for client := range 9 {
		for server := range 9 {
			if client != server {
				all[[2]int{client, server}] = 1
			}
		}
		if client > 0 {
			one[[2]int{0, client}] = 1
		}
	}
	count("many-to-one", one)
	count("all-to-all", all)
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
	} {
		spec := paperSpec()
		change(&spec)
		flows, err := Trace(spec)
		if err == nil || flows != nil || !strings.HasPrefix(err.Error(), "drawing flows: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	spec := paperSpec()
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
	if slices.ContainsFunc(flows, func(f Flow) bool { return f.Bytes != 7 }) {
		t.Error("a flow that is not of the only size in the file")
	}
}

var update = flag.Bool("update", false, "write the golden files")

// The golden pins the trace across machines, compilers and releases; that it is
// a right trace is what the other tests say.
func TestTraceGolden(t *testing.T) {
	var got strings.Builder
	for _, pattern := range Patterns() {
		flows := withSpec(t, func(s *Spec) { s.Pattern, s.Flows = pattern, 10_000 })
		fmt.Fprintf(&got, "%s sha256 %x\n", pattern, sha256.Sum256(fmt.Appendf(nil, "%v", flows)))
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
