package orchestrator

import (
	"testing"
	"time"

	"aqmlab/results"
)

// probedLab sends probes to the host that all flows come to. Of 2 ms of base
// RTT and four links that 102 bytes take 8.16 us for at 100 Mbps.
const (
	probedLab  = small + "probe: {from: h3, to: h1, every: 500us}\n"
	idleProbe  = 2*time.Millisecond + 4*8160*time.Nanosecond
	longestWay = idleProbe + 100_000*80*time.Nanosecond*2 // behind a full buffer
)

// TestProbesOfModelledHosts: an idle path takes what its links do, to the
// nanosecond, and no probe takes longer than a full buffer lets it.
func TestProbesOfModelledHosts(t *testing.T) {
	lab := parse(t, probedLab)
	run, err := Run(t.Context(), lab, RunOptions{Runtime: "sim", Out: t.TempDir(), Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, stored := range run.Points() {
		p, err := stored.Read()
		if err != nil {
			t.Fatal(err)
		}
		fastest, slowest := time.Hour, time.Duration(0)
		for i, s := range p.Probes {
			if s.Lost || s.At != time.Duration(i)*500*time.Microsecond {
				t.Errorf("sample %d: %+v", i, s)
			}
			fastest, slowest = min(fastest, s.RTT), max(slowest, s.RTT)
		}
		if fastest != idleProbe || slowest <= idleProbe || slowest > longestWay {
			t.Errorf("%s: from %v to %v, want from %v to at most %v", p.Scheme, fastest, slowest, idleProbe, longestWay)
		}
	}
}

// TestQueriesAreRecorded: the flows of an incast say which query they are of,
// and the background which workload.
func TestQueriesAreRecorded(t *testing.T) {
	lab := parse(t, small+"background: [{name: queries, arrival: {kind: incast, fan_out: 2, queries: 3, gap: 10ms}, sizes: {kind: fixed, size: 1KB}, load: 0.1}]\n")
	run, err := Run(t.Context(), lab, RunOptions{Runtime: "sim", Out: t.TempDir(), Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Points()[0].Read()
	if err != nil {
		t.Fatal(err)
	}
	if queries := results.QueriesOf(p.Flows); len(queries) != 3 || queries[0].Flows != 2 || !queries[2].Complete {
		t.Errorf("queries %+v", queries)
	}
	for _, f := range p.Flows {
		if (f.Workload == 1) != (f.Query > 0) {
			t.Errorf("flow %+v is of query %d and workload %d", f, f.Query, f.Workload)
		}
	}
}
