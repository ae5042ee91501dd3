package simulated

import (
	"maps"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// TestPausesAreStored: what flow control did to each host is in the point, and
// nothing without it.
func TestPausesAreStored(t *testing.T) {
	lab := parse(t)
	p := backend.Point{Coord: results.Coord{Scheme: "droptail", Load: 0.3, Seed: 1}}
	for i := range 4 { // both servers at once, which one link cannot carry
		p.Flows = append(p.Flows, traffic.Flow{ID: i, Server: 1 + i%2, Bytes: 200_000})
	}
	without, err := Models{Lab: lab}.Measure(t.Context(), p, func(backend.Progress) {})
	if err != nil || len(without.Pauses) > 0 {
		t.Fatalf("without flow control %+v, %v", without.Pauses, err)
	}
	lab = parse(t, func(l *labs.Lab) { l.Switch.Pause = fabric.Pause{XOff: 20 * units.KB, XOn: 17 * units.KB} })
	with, err := Models{Lab: lab}.Measure(t.Context(), p, func(backend.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	stopped := make(map[string]bool)
	for _, c := range with.Pauses {
		if c.Switch != "s1" || c.Stops > 0 != (c.Stopped > 0) || c.Stops > 0 && c.PeakBytes <= 20_000 || c.Stops == 0 && c.PeakBytes > 20_000 {
			t.Errorf("%+v", c)
		}
		stopped[c.Port] = c.Stops > 0
	}
	if want := map[string]bool{"h1": false, "h2": true, "h3": true}; !maps.Equal(stopped, want) {
		t.Errorf("stopped %v, want %v", stopped, want)
	}
}

// parse reads a small lab and lets change it.
func parse(t *testing.T, change ...func(*labs.Lab)) *labs.Lab {
	t.Helper()
	lab, err := labs.Parse("test.yaml", []byte(`
name: small
topology: {kind: star, hosts: 3, rate: 100Mbps}
rtt: 2ms
host: {transport: dctcp, rto_min: 10ms}
switch: {buffer: {per_port: 100KB}}
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}]
workload: {sizes: {kind: fixed, size: 64KB}, load: [0.3, 0.5], flows: 12, connections: 1}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(lab)
	}
	return lab
}
