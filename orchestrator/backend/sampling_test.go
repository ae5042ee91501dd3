package backend

import (
	"reflect"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

func TestPortCounts(t *testing.T) {
	m := []fabric.PortCount{
		{Switch: "s1", Far: "h1", Queues: []port.Count{{Enqueued: 9, Sent: 8, Marked: 7, DropsFull: 6, DropsScheme: 5, SentBytes: 4, PeakBytes: 3}, {}}},
		{Switch: "s1", Far: "h2", Queues: []port.Count{{Sent: 1}}},
	}
	want := []results.PortCount{
		{Switch: "s1", Port: "h1", Queue: 0, Enqueued: 9, Sent: 8, Marked: 7, DropsFull: 6, DropsScheme: 5, SentBytes: 4, PeakBytes: 3},
		{Switch: "s1", Port: "h1", Queue: 1},
		{Switch: "s1", Port: "h2", Queue: 0, Sent: 1},
	}
	if got := Counters(m, nil, nil).Ports; !reflect.DeepEqual(got, want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// TestIngressCounts: a port without an ingress stage, or whose stage held
// nothing, has no row.
func TestIngressCounts(t *testing.T) {
	m := []fabric.PortCount{
		{Switch: "s1", Far: "h1", Ingress: port.IngressCount{Held: 9, Released: 8, MarkedECE: 7, Replaced: 4, Cut: 3, PeakPackets: 6, PeakBytes: 5}},
		{Switch: "s1", Far: "h2"},
	}
	want := []results.IngressCount{{Switch: "s1", Port: "h1", Held: 9, Released: 8, MarkedECE: 7, Replaced: 4, Cut: 3, PeakPackets: 6}}
	if got := Counters(m, nil, nil).Ingress; !reflect.DeepEqual(got, want) {
		t.Errorf("counts %+v, want %+v", got, want)
	}
}

// TestSampleEvery: a point yields about 2000 samples of each queue, at least
// 10 us apart, but 200 000 at most in all; none without a trace.
func TestSampleEvery(t *testing.T) {
	gigabit := &labs.Lab{Topology: labs.Topology{Rate: units.Gbps}}
	star := fabric.Spec{Hosts: make([]fabric.Host, 9), Links: make([]fabric.Link, 9), Port: port.Spec{Queues: 4}}
	for last, want := range map[time.Duration]time.Duration{
		1:                     10 * time.Microsecond,
		20 * time.Millisecond: 10 * time.Microsecond,
		2 * time.Second:       time.Millisecond,
	} {
		if got := SampleEvery(gigabit, []traffic.Flow{{Start: 1}, {Start: last}}, star); got != want {
			t.Errorf("a trace of %v is sampled every %v, want %v", last, got, want)
		}
	}
	if got := SampleEvery(gigabit, nil, star); got != 0 {
		t.Errorf("without a trace: every %v", got)
	}
	// 200 MB at 1 Gbps, all at once: 1.6 s, whoever receives and sends them.
	for _, flows := range [][]traffic.Flow{
		{{Start: 1, Client: 0, Server: 1, Bytes: 1e8}, {Start: 1, Client: 0, Server: 2, Bytes: 1e8}},
		{{Start: 1, Client: 1, Server: 0, Bytes: 1e8}, {Start: 1, Client: 2, Server: 0, Bytes: 1e8}},
		{{Start: 1, Bytes: traffic.MaxBytes, Stop: 1600 * time.Millisecond}},
	} {
		if got := SampleEvery(gigabit, flows, star); got != 800*time.Microsecond {
			t.Errorf("1.6 s of traffic: every %v, want 800 us", got)
		}
	}
	// 144 hosts on 12 leaves and 12 spines: 432 ports of 8 queues, 57 samples of each.
	large := fabric.Spec{Hosts: make([]fabric.Host, 144), Links: make([]fabric.Link, 144+144), Port: port.Spec{Queues: 8}}
	if got := SampleEvery(gigabit, []traffic.Flow{{Start: 57 * time.Millisecond}}, large); got != time.Millisecond {
		t.Errorf("3456 queues over 57 ms: every %v, want 1 ms", got)
	}
}

// TestCaptureIsOffByDefault: nothing is captured without being asked for.
func TestCaptureIsOffByDefault(t *testing.T) {
	lab := &labs.Lab{}
	if s := CaptureSpec(lab); s != nil {
		t.Errorf("%+v is captured without being asked for", s)
	}
	lab.Capture = labs.Capture{Format: "pcapng", Ports: []string{"s1:h1"}, Snap: 96}
	if s := CaptureSpec(lab); s == nil || s.Snap != 96 || len(s.Ports) != 1 {
		t.Errorf("%+v is captured of %+v", s, lab.Capture)
	}
}
