package simulated

import (
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/trafficgen"
)

// judged measures a lab of RFC 7928 under a scheme, and judges how its parties share.
func judged(t *testing.T, name, scheme string) coexist.Judgement {
	t.Helper()
	lab, err := labs.Load("rfc7928/"+name, labs.Options{})
	if err != nil {
		t.Fatal(err)
	}
	flows, err := trafficgen.Trace(lab.Traffic(lab.Workload.Load[0], 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Models{Lab: lab}.Measure(t.Context(), backend.Point{Coord: results.Coord{Scheme: scheme, Load: lab.Workload.Load[0], Seed: 1}, Flows: flows}, func(backend.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	if info := results.InfoOf(p); info.Completed != info.Flows {
		t.Errorf("%s, %s: %d of %d flows completed", name, scheme, info.Completed, info.Flows)
	}
	return coexist.Judge(backend.ManifestOf(lab), p, coexist.Usual())
}

// within wants a measure between two values.
func within(t *testing.T, j coexist.Judgement, measure, of string, low, high float64) {
	t.Helper()
	if v, ok := j.Of(measure, of); !ok || v < low || v > high {
		t.Errorf("%s of %q is %v (%v), want %v to %v", measure, of, v, ok, low, high)
	}
}

// TestScenarios: what the scenarios of RFC 7928 must show by what they are.
func TestScenarios(t *testing.T) {
	t.Run("friendly", func(t *testing.T) {
		j := judged(t, "friendly", "fq-codel")
		within(t, j, coexist.Jain, "", 0.95, 1)
	})
	t.Run("aggressive", func(t *testing.T) { // one queue is not fair to all; a queue for each flow is
		within(t, judged(t, "aggressive", "tcn"), coexist.Jain, "", 1.0/3, 0.6)
		within(t, judged(t, "aggressive", "fq-codel"), coexist.Jain, "", 0.95, 1)
	})
	t.Run("unresponsive", func(t *testing.T) { // what the others leave goes to the responsive flows
		j := judged(t, "unresponsive", "tcn")
		within(t, j, coexist.Share, "cbr", 0.48, 0.58) // 500 of what 1 Gbps carries of payload
		within(t, j, coexist.Utilisation, "", 0.9, 1)
	})
	t.Run("overload", func(t *testing.T) {
		within(t, judged(t, "overload", "droptail"), coexist.Share, "ecn-star", 0, 0.05)
		within(t, judged(t, "overload", "fq-codel"), coexist.Share, "ecn-star", 0.4, 0.5)
	})
	t.Run("rtt", func(t *testing.T) { // a fifth of the RTT grows five times as fast
		within(t, judged(t, "rtt", "tcn"), coexist.Share, "service 0", 0.6, 0.95)
	})
	t.Run("bursts", func(t *testing.T) {
		j := judged(t, "bursts", "codel")
		within(t, j, coexist.Losses, "", 0, 0.001)
		if len(j.Parties) != 3 {
			t.Errorf("parties %q", j.Parties)
		}
	})
	t.Run("joins", func(t *testing.T) {
		j := judged(t, "joins", "fq-codel")
		if j.Changes != 5 || len(j.Parties) != 4 { // seven changes, less those with one flow after them
			t.Errorf("%d changes, parties %q", j.Changes, j.Parties)
		}
		within(t, j, coexist.Converged, "", 1, 1)
	})
	t.Run("congestion", func(t *testing.T) { // of 48 flows, 4, 12 and 32
		j := judged(t, "congestion", "fq-codel")
		within(t, j, coexist.Share, "service 2", 0.6, 0.72)
	})
	t.Run("capacity", func(t *testing.T) { // of what the link has meanwhile
		within(t, judged(t, "capacity", "droptail"), coexist.Utilisation, "", 0.95, 1)
	})
	t.Run("mix", func(t *testing.T) { // the calls wait as short as their queue lets them
		j := judged(t, "mix", "fq-codel")
		v, ok := j.Of(coexist.DelayP99, "queue 0, DSCP 2")
		if bulk, too := j.Of(coexist.DelayP99, "queue 0"); !ok || !too || v >= bulk {
			t.Errorf("calls wait %v us, bulk %v us", v, bulk)
		}
	})
	t.Run("twoway", func(t *testing.T) {
		within(t, judged(t, "twoway", "droptail"), coexist.Utilisation, "", 0.7, 1)
	})
}
