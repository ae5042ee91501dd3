package role_test

import (
	"testing"
	"time"

	"aqmlab/collectors"
	"aqmlab/kind"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/live"
	"aqmlab/units"
)

// TestLiveSwitch: a switch that runs is looked at, gets other ports, and follows a
// timeline that it did not know of, while connections go on. What it has counted goes on,
// too.
func TestLiveSwitch(t *testing.T) {
	l := newLab(t)
	l.fabric.Live = true
	var nothing agent.Nothing
	if err := l.sw.Start(l.fabric, &nothing); err != nil {
		t.Fatal(err)
	}
	h := serving(t, l.ends)
	look := func() (q collectors.QueueLook) {
		t.Helper()
		var all collectors.Look
		if err := l.sw.Look(agent.Nothing{}, &all); err != nil {
			t.Fatal(err)
		}
		for _, one := range all.Queues {
			if one.Port == "h1" {
				q.SentBytes += one.SentBytes
				q.Fates[port.MarkedOnDeparture] += one.Fates[port.MarkedOnDeparture]
			}
		}
		return q
	}
	trace := flows(20, 2)
	checkRecords(t, replay(t, h, live.Config{Flows: trace, Dilation: 1, Connections: 1}), trace)
	before := look()
	if before.SentBytes == 0 || before.Fates[port.MarkedOnDeparture] != 0 {
		t.Errorf("before: %+v", before)
	}
	to := l.fabric.Spec.Port
	to.Queues, to.Scheduler = 4, kind.Choice{Kind: "dwrr"}
	to.Scheme = kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "1ns"}}
	if err := l.sw.Change(to, &nothing); err != nil {
		t.Fatal(err)
	}
	zero, err := host.Monotonic()
	if err != nil {
		t.Fatal(err)
	}
	const slow = 20 * time.Millisecond
	course := fabric.Timeline{Links: []fabric.LinkCourse{{Link: 1, Back: true, States: []fabric.LinkState{{Rate: 100 * units.Mbps, Delay: slow}}}}}
	if err := l.sw.Follow(role.Course{Timeline: course, Zero: zero}, &nothing); err != nil {
		t.Fatal(err)
	}
	var rtts []role.RTT
	if err := h.BaseRTT([][2]int{{0, 1}}, &rtts); err != nil || rtts[0].Least < slow+3*linkDelay {
		t.Errorf("RTT %+v, %v, with a link of %v", rtts, err, slow)
	}
	if after := look(); after.SentBytes <= before.SentBytes {
		t.Errorf("after: %+v, before %+v", after, before)
	}
	var m role.Measured
	if err := l.sw.Finish(nothing, &m); err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Ports {
		if len(p.Queues) != 4 {
			t.Errorf("a port of %d queues", len(p.Queues))
		}
	}
}
