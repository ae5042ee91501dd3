//go:build linux

package e2e

import (
	"math"
	"slices"
	"testing"

	"aqmlab/results"
)

// steady is a lab slow enough for any machine, of flows that are long beside
// what the hosts' own timers add.
const steady = `
name: e2e-dilation
topology: {kind: star, hosts: 3, rate: 50Mbps}
rtt: 4ms
host: {transport: dctcp, init_cwnd: 10, rto_min: 40ms}
switch: {buffer: {per_port: 96KB}}
schemes: [{name: tcn, aqm: tcn, threshold: 4ms}]
workload: {sizes: {kind: uniform, min: 50KB, max: 300KB}, load: 0.5, flows: 60, connections: 2}
`

// TestDilation: the same lab at dilations 1 and 8 gives like flow completion
// times in lab time: the median ratio of a flow's two FCTs is near 1.
func TestDilation(t *testing.T) {
	needRoot(t)
	lab := labFile(t, steady)
	flows := func(dilation string) []results.Flow {
		run, _ := runLab(t, plainVar, lab, "--dilation", dilation)
		return points(t, run)["tcn"].Flows
	}
	fast, slow := flows("1"), flows("8")
	ratios := make([]float64, len(fast))
	for i := range fast {
		ratios[i] = float64(slow[i].FCT) / float64(fast[i].FCT)
	}
	slices.Sort(ratios)
	if median := ratios[len(ratios)/2]; math.Abs(median-1) > 0.2 {
		t.Errorf("FCTs at dilation 8 are %.2f of those at 1 (median); all ratios: %.2f", median, ratios)
	}
}
