package compare

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// TestTotals adds up two seeds of one point by hand: it has three completed flows of four, of
// which two met a timeout, 12 drops at ports, 11 losses on a link, and 12 timeouts of hosts.
func TestTotals(t *testing.T) {
	first, second := resultstest.Lossy(), resultstest.Lossy()
	first.Fidelity, second.Fidelity = results.Fidelity{Label: results.FidelityOK}, results.Fidelity{Label: results.FidelityLow}
	second.Seed = 2
	const us = time.Microsecond
	first.Probes = []results.ProbeSample{{Probe: "idle", RTT: 100 * us}, {Probe: "busy", Lost: true}}
	second.Probes = []results.ProbeSample{{Probe: "busy", At: 1, RTT: 300 * us}, {Probe: "busy", At: 2, RTT: 500 * us}}
	c, err := Points([]results.Point{first, second}, "red")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := c.Total("red", 0.5)
	if !ok || !slices.Equal(got.Seeds, []uint64{1, 2}) || got.Flows != 8 || got.Completed != 6 || got.TimedOut != 4 {
		t.Errorf("%+v", got)
	}
	if n := got.Counts; n.Drops != 24 || n.LinkLosses != 22 || n.Timeouts != 24 || n.Retransmits != 86 {
		t.Errorf("counted %+v", n)
	}
	if got.Fidelity.Label != results.FidelityLow {
		t.Errorf("fidelity %s, want the worst", got.Fidelity.Label)
	}
	// Each seed delivers 20,003,000 bytes of service 0 in 1 ms.
	if want := 20_003_000.0 * 8 / 1e6; len(got.Services) != 1 || math.Abs(got.Services[0].Goodput/want-1) > 1e-4 {
		t.Errorf("goodput %+v, want %v", got.Services, want)
	}
	if names := c.ProbeNames(0.5); !slices.Equal(names, []string{"idle", "busy"}) {
		t.Errorf("probes %v", names)
	}
	if busy, ok := got.Probe("busy"); !ok || busy.Sent != 3 || busy.Lost != 1 || busy.RTT.Mean != 400 {
		t.Errorf("probe %+v", busy)
	}
	if all := c.TotalsAt(0.5); len(all) != 1 || !reflect.DeepEqual(all[0], got) {
		t.Errorf("totals at the load: %+v", all)
	}
	if len(c.TotalsAt(0.9)) != 0 {
		t.Error("totals at a load that was not measured")
	}

	second.Flows[0].Timeouts = results.Unknown
	if c, err = Points([]results.Point{first, second}, "red"); err != nil || c.Totals[0].TimedOut != results.Unknown {
		t.Errorf("with a seed that did not count timeouts: %v", err)
	}
}

// TestLoadsThatABaselineLacks: what a scheme has at a load without the baseline is not
// compared, and what follows it is.
func TestLoadsThatABaselineLacks(t *testing.T) {
	at := func(scheme string, load float64) results.Point {
		p := resultstest.Trace(scheme, 1, 10, 20)
		p.Load = load
		return p
	}
	c, err := Points([]results.Point{at("a", 0.9), at("b", 0.9), at("b", 0.5), at("c", 0.5), at("c", 0.9)}, "a")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(c.Loads, []float64{0.5, 0.9}) {
		t.Errorf("loads %v", c.Loads)
	}
	for _, scheme := range []string{"b", "c"} {
		if _, ok := c.Row(scheme, 0.9, results.All, Mean); !ok {
			t.Errorf("%s is not compared at load 0.9", scheme)
		}
		if _, ok := c.Row(scheme, 0.5, results.All, Mean); ok {
			t.Errorf("%s is compared at load 0.5", scheme)
		}
		if _, ok := c.Total(scheme, 0.5); !ok {
			t.Errorf("%s has no totals at load 0.5", scheme)
		}
	}
}

// TestEach: each run is compared by itself, and one that cannot be is an error.
func TestEach(t *testing.T) {
	a := made(t, resultstest.LabText, same, resultstest.Trace("droptail", 1, 10, 20), resultstest.Trace("tcn", 1, 5, 10))
	b := made(t, resultstest.LabText, same, resultstest.Trace("droptail", 1, 40, 80))
	got, err := Each([]*store.Run{a, b}, "", coexist.Usual())
	if err != nil || len(got) != 2 || got[0].Lab != a.Manifest.Lab || len(got[0].Schemes) != 2 || len(got[1].Schemes) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := Each([]*store.Run{a, b}, "tcn", coexist.Usual()); err == nil {
		t.Error("a baseline that one of them lacks is no error")
	}
	if names := Names([]*store.Run{a}); len(names) != 1 || !strings.HasSuffix(a.Dir, "/"+names[0]) {
		t.Errorf("named %v", names)
	}
}

// TestEnoughFlows: ten pairs are enough for a verdict, and 1,000 for a p99; one less is not.
func TestEnoughFlows(t *testing.T) {
	for n, want := range map[int][]string{9: {"too few for a verdict", "p99"}, 10: {"p99"}, 999: {"p99"}, 1000: nil} {
		flows, queries := make([]int, n), make([]int, n)
		for i := range n {
			flows[i], queries[i] = 10+i, 10+i
		}
		for what, points := range map[string][]results.Point{
			"flows":   {resultstest.Trace("a", 1, flows...), resultstest.Trace("b", 1, flows...)},
			"queries": {resultstest.Queried("a", 1, queries...), resultstest.Queried("b", 1, queries...)},
		} {
			c, err := Points(points, "a")
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(slices.DeleteFunc(c.Warnings, func(w string) bool { return (what == "queries") != strings.Contains(w, "queries") }), "\n")
			for _, words := range []string{"too few for a verdict", "p99"} {
				wanted := slices.Contains(want, words)
				if what == "queries" && n < 10 && words == "p99" {
					wanted = false // too few says it all
				}
				if strings.Contains(text, words) != wanted {
					t.Errorf("%s: want %q: %v in %q", fmt.Sprint(n, " ", what), words, wanted, text)
				}
			}
		}
	}
}
