package orchestrator

import (
	"fmt"
	"testing"

	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// small is a lab of three hosts that any machine runs at a dilation of 2.
const small = `
name: small
topology: {kind: star, hosts: 3, rate: 100Mbps}
rtt: 2ms
host: {transport: dctcp, rto_min: 10ms}
switch: {buffer: {per_port: 100KB}}
schemes: [{name: droptail, aqm: droptail}, {name: tcn, aqm: tcn, threshold: 1ms}]
workload: {sizes: {kind: fixed, size: 64KB}, load: [0.3, 0.5], flows: 12, connections: 1}
seeds: [1, 2]
dilation: 2
`

// parse reads a lab and lets change it.
func parse(t *testing.T, text string, change ...func(*labs.Lab)) *labs.Lab {
	t.Helper()
	lab, err := labs.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(lab)
	}
	return lab
}

// diary is a watcher that notes what it is told.
type diary struct {
	notes   []string
	events  []string
	points  []results.Point
	onBegin func(Point)
	last    results.Seen // of a point's progress
}

func (d *diary) Note(text string) { d.notes = append(d.notes, text) }

func (d *diary) Begin(p Point) {
	d.events = append(d.events, fmt.Sprint("begin ", p.Scheme, " ", p.Number, "/", p.Of))
	if d.onBegin != nil {
		d.onBegin(p)
	}
}

func (d *diary) Progress(p Point, s backend.Progress) {
	d.last = s.Last
	if want := fmt.Sprint("progress ", p.Scheme); d.events[len(d.events)-1] != want {
		d.events = append(d.events, want)
	}
}

func (d *diary) End(p Point, measured results.Point) {
	d.events = append(d.events, "end "+p.Scheme)
	d.points = append(d.points, measured)
}
