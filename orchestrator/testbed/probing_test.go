package testbed

import (
	"testing"
	"time"

	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// probedLab sends probes to the host that all flows come to.
const probedLab = small + "probe: {from: h3, to: h1, every: 500us}\n"

// TestProbesOfRealHosts: probes go through the switch beside the flows, and
// their times are lab time.
func TestProbesOfRealHosts(t *testing.T) {
	tb := testbed(t, parse(t, probedLab))
	for range 2 {
		got, err := tb.Run(t.Context(), onePoint(t, tb.lab), func(backend.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		sums := results.SummarizeProbes(got.Probes)
		if len(sums) != 1 || sums[0].Probe != "service-0" || sums[0].Sent == 0 || sums[0].Lost == sums[0].Sent {
			t.Fatalf("%+v, want answers", sums)
		}
		for _, s := range got.Probes {
			if !s.Lost && s.RTT < 2*time.Millisecond {
				t.Errorf("sample %+v: the links alone take 2 ms", s)
			}
		}
	}
}
