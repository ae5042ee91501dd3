package role_test

import (
	"strings"
	"testing"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/trafficgen/live"
)

// TestReceiveNear: hosts whose receiving the switch steers get all their traffic, and
// receive on their own CPUs again once it has stopped.
func TestReceiveNear(t *testing.T) {
	l := newLab(t)
	near := role.Near{Device: netns.Device, Others: []int{0}}
	for _, e := range l.ends {
		near.Namespaces = append(near.Namespaces, e.Namespace)
	}
	if host.InUserNamespace() {
		t.Skip("root of a user namespace cannot steer what devices receive")
	}
	var nothing agent.Nothing
	if err := l.sw.ReceiveNear(near, &nothing); err != nil {
		t.Fatal(err)
	}
	if err := l.sw.Start(l.fabric, &nothing); err != nil {
		t.Fatal(err)
	}
	if err := l.sw.ReceiveNear(near, &nothing); err == nil || !strings.Contains(err.Error(), "is running") {
		t.Errorf("steered while it runs: %v", err)
	}
	h := serving(t, l.ends)
	trace := flows(20, 2)
	checkRecords(t, replay(t, h, live.Config{Flows: trace, Dilation: 1, Connections: 1}), trace)
	var m role.Measured
	if err := l.sw.Finish(nothing, &m); err != nil {
		t.Fatal(err)
	}
	for _, e := range l.ends {
		if err := netns.Do(e.Namespace, func() error {
			if mask, err := host.ReceiveCPUs(netns.Device); err != nil || mask != "1" {
				t.Errorf("after the run: mask %s, %v; want that of CPU 0", mask, err)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReceiveNearOfNothing: a switch without interfaces, and hosts that are not there, are
// errors.
func TestReceiveNearOfNothing(t *testing.T) {
	var closed role.Switch
	if err := closed.ReceiveNear(role.Near{}, &agent.Nothing{}); err == nil || !strings.Contains(err.Error(), "no interfaces yet") {
		t.Errorf("of a switch without interfaces: %v", err)
	}
	l := newLab(t)
	missing := role.Near{Namespaces: []string{l.ends[0].Namespace}, Device: "none-such"}
	if err := l.sw.ReceiveNear(missing, &agent.Nothing{}); err == nil || !strings.Contains(err.Error(), "none-such") {
		t.Errorf("of a device that is not there: %v", err)
	}
}
