//go:build linux

package e2e

import (
	"testing"

	"aqmlab/results"
)

// fabric144 is the network of TCN's large simulations, slow enough for any machine.
const fabric144 = `
name: e2e-fabric
topology: {kind: leaf-spine, leaves: 12, spines: 12, hosts_per_leaf: 12, rate: 10Gbps}
rtt: {min: 80us, base: hosts}
host: {transport: dctcp, init_cwnd: 16, rto_min: 5ms, port: switch}
switch: {buffer: {per_port: 300KB}}
schemes: [{name: tcn, aqm: tcn, threshold: 78us}]
workload: {sizes: {kind: uniform, min: 20KB, max: 400KB}, pattern: inter-rack, load: 0.3, flows: 50, connections: 1}
dilation: 500
`

// TestFabric: a fabric of 144 real hosts and 24 switches comes up, carries every flow across
// its spines, and goes without leaving anything. What hosts send passes a port of their own.
func TestFabric(t *testing.T) {
	needRoot(t)
	run, printed := runLab(t, plainVar, labFile(t, fabric144))
	nothingLeft(t)
	if printed.Runtime != "netns" {
		t.Errorf("printed %+v", printed)
	}
	point := points(t, run)["tcn"]
	if len(point.Flows) != 50 || len(point.Hosts) != 144 {
		t.Errorf("%d flows of 50, counts of %d hosts", len(point.Flows), len(point.Hosts))
	}
	var payload int64
	for _, f := range point.Flows {
		if payload += f.Received; !f.Completed() {
			t.Errorf("flow %d of %d bytes: %s", f.ID, f.Bytes, f.Error)
		}
	}
	sent, spines := map[string]int64{}, map[string]bool{} // by sort of node at both ends
	for _, p := range point.Ports {
		sent[p.Switch[:1]+" to "+p.Port[:1]] += p.SentBytes
		if p.Switch[0] == 'p' && p.SentBytes > 0 {
			spines[p.Switch] = true
		}
	}
	for _, way := range []string{"h to l", "l to p", "p to l", "l to h"} {
		if sent[way] < payload {
			t.Errorf("%s: %d bytes, of flows with %d", way, sent[way], payload)
		}
	}
	if len(spines) < 10 {
		t.Errorf("%d of 12 spines have carried something", len(spines))
	}
}

// TestGuestOpensManyAtOnce: connections that are opened ahead begin in one instant. A guest,
// whose CPU takes no time, loses none of their first segments, however many they are.
func TestGuestOpensManyAtOnce(t *testing.T) {
	run, _ := needGuest(t).run(t, labFile(t, fabric144), "--set", "workload.sizes=fixed", "--set", "workload.sizes.size=2KB", "--flows", "2000", "--loads", "0.01")
	if p := points(t, run)["tcn"]; p.Fidelity.Label != results.FidelityExact {
		t.Errorf("fidelity %+v", p.Fidelity)
	}
}
