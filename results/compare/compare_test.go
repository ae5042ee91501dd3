package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

func TestCompareByHand(t *testing.T) {
	c, err := Points([]results.Point{resultstest.Trace("a", 1, 10, 20, 30, 40), resultstest.Trace("b", 1, 10, 10, 15, 15)}, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Row{
		{Scheme: "a", Class: results.All, Metric: Mean, Value: 25, Normalized: 1},
		{Scheme: "a", Class: results.Small, Metric: P99, Value: 40, Normalized: 1},
		{Scheme: "b", Class: results.All, Metric: Mean, Value: 12.5, Normalized: 0.5, Difference: -50},
		{Scheme: "b", Class: results.Small, Metric: P99, Value: 15, Normalized: 0.375, Difference: -62.5},
	} {
		got, _ := c.Row(want.Scheme, 0.5, want.Class, want.Metric)
		if got.Value != want.Value || got.Normalized != want.Normalized || got.Difference != want.Difference || got.Verdict != NoDifference {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if _, ok := c.Row("b", 0.5, results.Large, Mean); ok {
		t.Error("a class without flows has a row")
	}
	if len(c.Rows) != 8 { // two schemes, mean and p99 of small and all
		t.Errorf("%d rows, want 8", len(c.Rows))
	}
}

// A flow that failed under one scheme is left out for both, so that the
// scheme does not profit from losing slow flows.
func TestIncompleteFlowsArePairedAway(t *testing.T) {
	c, err := Points([]results.Point{resultstest.Trace("a", 1, 10, 20, 30, 400), resultstest.Trace("b", 1, 10, 20, 30, 0)}, "a")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := c.Row("b", 0.5, results.All, Mean); r.Value != 20 || r.Normalized != 1 {
		t.Errorf("b has mean %g, x%g; want 20, x1", r.Value, r.Normalized)
	}
	if r, _ := c.Row("a", 0.5, results.All, Mean); r.Value != 115 {
		t.Errorf("a has mean %g of its own flows, want 115", r.Value)
	}
	wantWarning(t, c, "1 of 4 flows of b at load 0.5 did not complete")
}

func wantWarning(t *testing.T, c Comparison, want string) {
	t.Helper()
	if !slices.ContainsFunc(c.Warnings, func(s string) bool { return strings.Contains(s, want) }) {
		t.Errorf("no warning holds %q: %q", want, c.Warnings)
	}
}

func TestCompareRefuses(t *testing.T) {
	bent := func(bend func(*results.Flow)) results.Point {
		p := resultstest.Trace("b", 1, 1, 2, 3)
		bend(&p.Flows[2])
		return p
	}
	elsewhere := resultstest.Trace("b", 1, 1, 2, 3)
	elsewhere.Load = 0.9
	a := resultstest.Trace("a", 1, 1, 2, 3)
	for _, c := range []struct {
		name     string
		points   []results.Point
		baseline string
		want     string
	}{
		{"nothing", nil, "", "no points"},
		{"unknown baseline", []results.Point{a, resultstest.Trace("b", 1, 1, 2, 3)}, "red", `baseline "red": want one of a, b`},
		{"twice", []results.Point{a, a}, "", "a at load 0.5, seed 1 is there twice"},
		{"fewer flows", []results.Point{a, resultstest.Trace("b", 1, 1, 2)}, "", "a and b did not replay the same trace at load 0.5, seed 1: 3 flows and 2 flows"},
		{"bytes", []results.Point{a, bent(func(f *results.Flow) { f.Bytes, f.Received = 9, 9 })}, "", "flow 2 has 1000 bytes in one and 9 bytes in the other"},
		{"start", []results.Point{a, bent(func(f *results.Flow) { f.Start = 9 * time.Millisecond })}, "", "flow 2 starts at 2ms, where the other has flow 2 at 9ms"},
		{"server", []results.Point{a, bent(func(f *results.Flow) { f.Server = 4 })}, "", "flow 2 goes from host 1 to 0 in one and from host 4 to 0"},
		{"other loads", []results.Point{a, elsewhere}, "", "no scheme has a load and seed in common with the baseline a"},
		{"other seeds", []results.Point{a, resultstest.Trace("b", 2, 1, 2, 3)}, "", "no scheme has a load and seed in common"},
	} {
		if _, err := Points(c.points, c.baseline); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
	}
}

// What an application sends until it stops depends on the scheme.
func TestFlowsThatStopAreCompared(t *testing.T) {
	a, b := resultstest.Trace("a", 1, 10, 20), resultstest.Trace("b", 1, 10, 20)
	a.Flows[1].Stops, b.Flows[1].Stops = true, true
	b.Flows[1].Bytes, b.Flows[1].Received = 9, 9
	if _, err := Points([]results.Point{a, b}, "a"); err != nil {
		t.Error(err)
	}
	a.Flows[1].Stops = false
	if _, err := Points([]results.Point{a, b}, "a"); err == nil {
		t.Error("flows of other sizes were compared")
	}
}

func TestFlowsArePairedInAnyOrder(t *testing.T) {
	b := resultstest.Trace("b", 1, 10, 10, 15, 15)
	slices.Reverse(b.Flows)
	if _, err := Points([]results.Point{resultstest.Trace("a", 1, 10, 20, 30, 40), b}, "a"); err != nil {
		t.Errorf("flows in another order were refused: %v", err)
	}
	if b.Flows[0].ID != 3 {
		t.Error("the caller's flows were sorted")
	}
}

func TestOneSchemeHasItsValues(t *testing.T) {
	c, err := Points([]results.Point{resultstest.Trace("a", 1, 10, 20), resultstest.Trace("a", 2, 30, 40)}, "")
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := c.Row("a", 0.5, results.All, Mean); !ok || r.Value != 25 {
		t.Errorf("mean over both seeds = %g, want 25", r.Value)
	}
	if total, _ := c.Total("a", 0.5); total.Flows != 4 || !slices.Equal(total.Seeds, []uint64{1, 2}) {
		t.Errorf("totals are %+v", total)
	}
	if len(c.Findings()) != 0 {
		t.Errorf("one scheme is compared: %v", c.Findings())
	}
}

func TestSeedsThatOnlyOneHas(t *testing.T) {
	c, err := Points([]results.Point{
		resultstest.Trace("a", 1, 10, 20), resultstest.Trace("b", 1, 20, 40), resultstest.Trace("b", 2, 500, 500),
		resultstest.Trace("c", 3, 10, 20),
	}, "a")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := c.Row("b", 0.5, results.All, Mean); r.Normalized != 2 {
		t.Errorf("b is x%g on the seed that both have, want x2", r.Normalized)
	}
	wantWarning(t, c, "b at load 0.5 is compared on 1 of its 2 seeds")
	wantWarning(t, c, "c at load 0.5 is not compared")
	if _, ok := c.Row("c", 0.5, results.All, Mean); ok {
		t.Error("c has rows")
	}
}

func TestWarnings(t *testing.T) {
	low := resultstest.Trace("b", 1, 20, 40)
	low.Fidelity = results.Fidelity{Label: results.FidelityLow, ShareOfRTT: 0.25, EdgeDrops: 7}
	c, err := Points([]results.Point{resultstest.Trace("a", 1, 10, 20), low}, "a")
	if err != nil {
		t.Fatal(err)
	}
	wantWarning(t, c, "b at load 0.5 is low-fidelity: p99 lateness 25 % of the base RTT, 7 frames lost")
	wantWarning(t, c, "a single seed at load 0.5")
	wantWarning(t, c, "p99 of class small at load 0.5 rests on 2 flows")
	wantWarning(t, c, "class all at load 0.5 has 2 flows: too few for a verdict")

	s := resultstest.Synth{Flows: 4000, Reach: 1, Sigma: 0.1}
	var clean []results.Point
	for seed := range uint64(2) {
		clean = append(clean, s.Point("a", seed, 100, 1), s.Point("b", seed, 200, 1))
	}
	if c, err = Points(clean, "a"); err != nil || len(c.Warnings) != 0 {
		t.Errorf("nothing is wrong, yet: %q (%v)", c.Warnings, err)
	}
}

func TestUnionOfRuns(t *testing.T) {
	m := resultstest.StarManifest()
	one := stored(t, m, resultstest.Measured()[:4]) // droptail
	m.Host.Kernel, m.Dilation, m.Transport.Provider, m.Seeds = "6.1.0", 1, "eBPF", []uint64{1, 2, 3}
	two := stored(t, m, resultstest.Measured()[4:8]) // tcn
	c, err := Runs([]*store.Run{one, two}, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Baseline != "droptail" || !slices.Equal(c.Schemes, []string{"droptail", "tcn"}) {
		t.Errorf("schemes %v with baseline %s", c.Schemes, c.Baseline)
	}
	var fields []string
	for _, d := range c.Differences {
		fields = append(fields, d.Field)
	}
	if want := []string{"dilation", "kernel", "transport provider", "seeds"}; !slices.Equal(fields, want) {
		t.Errorf("runs differ in %v, want %v", fields, want)
	}
	name := Names([]*store.Run{one})[0]
	if got, want := c.Differences[1].String(), fmt.Sprintf("kernel: 6.18.0 (%s), 6.1.0 (%s)", name, name); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The same scheme on two machines, or before and after a change.
func TestSameSchemeInTwoRuns(t *testing.T) {
	one, two := stored(t, resultstest.StarManifest(), resultstest.Measured()[:8]), stored(t, resultstest.StarManifest(), resultstest.Measured()[:4])
	c, err := Runs([]*store.Run{one, two}, "droptail")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"droptail@1", "tcn", "droptail@2"}; !slices.Equal(c.Schemes, want) {
		t.Errorf("schemes are %v, want %v", c.Schemes, want)
	}
	if r, _ := c.Row("droptail@2", 0.9, results.All, Mean); r.Normalized != 1 || r.Verdict != NoDifference {
		t.Errorf("the same flows differ: %+v", r)
	}
	if len(c.Differences) != 0 {
		t.Errorf("runs differ in %v", c.Differences)
	}
}

func TestCompareRunsRefuses(t *testing.T) {
	if _, err := Runs(nil, ""); err == nil {
		t.Error("no runs were compared")
	}
	other := resultstest.Trace("tcn", 1, 1, 2, 3)
	runs := []*store.Run{stored(t, resultstest.StarManifest(), resultstest.Measured()[:1]), stored(t, resultstest.StarManifest(), []results.Point{other})}
	if _, err := Runs(runs, ""); err == nil || !strings.Contains(err.Error(), "same trace") {
		t.Errorf("runs of different traces: %v", err)
	}
}

// The names are a contract.
func TestCompareJSONFields(t *testing.T) {
	m := resultstest.StarManifest()
	m.Host.Kernel = "other"
	c, err := Runs([]*store.Run{stored(t, resultstest.StarManifest(), resultstest.Measured()[:4]), stored(t, m, resultstest.Measured()[4:8])}, "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	resultstest.WantKeys(t, "comparison", got, "baseline", "rows", "differences")
	resultstest.WantKeys(t, "row", got["rows"].([]any)[0].(map[string]any),
		"scheme", "load", "class", "metric", "value", "normalized", "difference_percent", "ci95", "verdict")
	resultstest.WantKeys(t, "difference", got["differences"].([]any)[0].(map[string]any), "field", "values")
	c, err = Points([]results.Point{{Coord: results.Coord{Scheme: "a"}}}, "")
	if b, jerr := json.Marshal(c); err != nil || jerr != nil || string(b) != `{"baseline":"a","rows":[],"differences":[]}` {
		t.Errorf("a comparison without flows is %s (%v, %v)", b, err, jerr)
	}
}
