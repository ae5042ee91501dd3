package testbed

import (
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/wire"
	"aqmlab/trafficgen"
)

// TestSendersOfTheKernel: the kernel's TCP tells its windows, and DCTCP its
// estimate, of the module or of the program that stands in for it.
func TestSendersOfTheKernel(t *testing.T) {
	lab := parse(t, small, func(l *labs.Lab) { l.Collect.Senders = time.Millisecond })
	tb := testbed(t, lab)
	flows, err := trafficgen.Trace(lab.Traffic(0.5, 1))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // one replay after another
		p, err := tb.Run(t.Context(), backend.Point{Coord: results.Coord{Scheme: "tcn", Load: 0.5, Seed: 1}, Flows: flows}, func(backend.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Senders) == 0 {
			t.Fatal("no sender was sampled")
		}
		seen, known := map[int64]bool{}, 0
		for _, s := range p.Senders {
			seen[s.Flow] = true
			i := slices.IndexFunc(p.Flows, func(f results.Flow) bool { return f.ID == s.Flow })
			if i < 0 || s.At < p.Flows[i].Sent || s.Cwnd < 1000 || s.SRTT < 0 || s.Alpha != results.Unknown && (s.Alpha < 0 || s.Alpha > 1) {
				t.Errorf("%+v of flow %+v", s, p.Flows[max(i, 0)])
			}
			if s.Alpha != results.Unknown { // as it is once the connection is closed
				known++
			}
		}
		if known < len(p.Senders)/2 {
			t.Errorf("DCTCP's estimate is known in %d of %d samples", known, len(p.Senders))
		}
		if len(seen) < 2 {
			t.Errorf("%d of %d flows were ever seen", len(seen), len(flows))
		}
	}
}

// TestEstimatesOfTheSwitch: what schemes estimate comes from the switch's process,
// in times of the trace, and the same lab has none without being asked.
func TestEstimatesOfTheSwitch(t *testing.T) {
	for _, asked := range []bool{true, false} {
		lab := parse(t, small, func(l *labs.Lab) {
			l.Collect.Estimates = asked
			l.Schemes[0].AQM = kind.Choice{Kind: "ideal-red"}
		})
		tb := testbed(t, lab)
		flows, err := trafficgen.Trace(lab.Traffic(0.5, 1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := tb.Run(t.Context(), backend.Point{Coord: results.Coord{Scheme: lab.Schemes[0].Name, Load: 0.5, Seed: 1}, Flows: flows}, func(backend.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		if (len(p.Estimates) > 0) != asked {
			t.Fatalf("asked %v: %d estimates", asked, len(p.Estimates))
		}
		for i, e := range p.Estimates {
			if e.Switch != "s1" || e.Rate <= 0 || e.Smoothed <= 0 || i > 0 && e.At < p.Estimates[i-1].At {
				t.Fatalf("estimate %d: %+v", i, e)
			}
		}
	}
}

// TestDelaysOfTheSwitch: how long packets wait comes from the switch's process, for every
// packet that its ports sent, and the same lab has none without being asked.
func TestDelaysOfTheSwitch(t *testing.T) {
	for _, asked := range []bool{true, false} {
		lab := parse(t, small, func(l *labs.Lab) { l.Collect.Delays = asked })
		tb := testbed(t, lab)
		flows, err := trafficgen.Trace(lab.Traffic(0.5, 1))
		if err != nil {
			t.Fatal(err)
		}
		p, err := tb.Run(t.Context(), backend.Point{Coord: results.Coord{Scheme: lab.Schemes[0].Name, Load: 0.5, Seed: 1}, Flows: flows}, func(backend.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		if !asked {
			if len(p.Delays)+len(p.Classes) > 0 {
				t.Fatalf("not asked: %d delays, %d classes", len(p.Delays), len(p.Classes))
			}
			continue
		}
		var waited, counted, sent int64
		for _, d := range p.Delays {
			waited += d.Packets
		}
		for _, c := range p.Classes {
			counted += c.Sent
		}
		for _, q := range p.Ports {
			sent += q.Sent
		}
		if waited == 0 || waited != counted || counted != sent {
			t.Errorf("%d packets waited, %d were counted, %d sent", waited, counted, sent)
		}
	}
}

// What switches of processes of their own estimate is put on the time of the first.
func TestJoinEstimates(t *testing.T) {
	whole := role.Measured{Report: wire.Report{Start: 1000}, Estimates: []results.EstimateSample{{At: 5, Switch: "l1"}}}
	join(&whole, role.Measured{Report: wire.Report{Start: 1020}, Estimates: []results.EstimateSample{{At: 1, Switch: "l2"}}}, 2)
	want := []results.EstimateSample{{At: 5, Switch: "l1"}, {At: 11, Switch: "l2"}}
	if !slices.Equal(whole.Estimates, want) {
		t.Errorf("joined %+v, want %+v", whole.Estimates, want)
	}
}
