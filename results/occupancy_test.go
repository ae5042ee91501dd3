package results

import (
	"slices"
	"testing"
	"time"
)

func TestBottleneckIsThePortThatSentMost(t *testing.T) {
	if _, ok := Bottleneck(nil); ok {
		t.Error("no samples have a bottleneck")
	}
	samples := []QueueSample{
		{Switch: "s1", Port: "h1", Sent: 10, PeakBytes: 99}, {Switch: "s1", Port: "h2", Sent: 7},
		{Switch: "s1", Port: "h2", Sent: 8}, {Switch: "s2", Port: "h2", Sent: 14},
	}
	if p, ok := Bottleneck(samples); !ok || p.String() != "s1 to h2" {
		t.Errorf("bottleneck is %v", p)
	}
	idle := []QueueSample{{Switch: "s", Port: "b", PeakBytes: 5}, {Switch: "s", Port: "a", PeakBytes: 5}, {Switch: "s", Port: "c", PeakBytes: 1}}
	if p, _ := Bottleneck(idle); p.Port != "a" {
		t.Errorf("of equal ports %s was chosen, want the first by name", p.Port)
	}
}

func TestOccupancyByHand(t *testing.T) {
	ms := time.Millisecond
	samples := []QueueSample{
		{At: 0, Switch: "s", Port: "p", Queue: 0, Bytes: 1000, PeakBytes: 2000},
		{At: 0, Switch: "s", Port: "p", Queue: 1, Bytes: 3000, PeakBytes: 3500},
		{At: 0, Switch: "s", Port: "other", Bytes: 9e6, PeakBytes: 9e6},
		{At: 300 * ms, Switch: "s", Port: "p", Queue: 0, Bytes: 0, PeakBytes: 7000},
	}
	o := Occupy("tcn", samples, PortName{"s", "p"}, LastSample(samples))
	// Two bins of 1 ms: at the start, and the last.
	wantMean, wantPeak := []XY{{500, 4}, {299_500, 0}}, []XY{{500, 4}, {299_500, 7}}
	if !slices.Equal(o.Mean, wantMean) || !slices.Equal(o.Peak, wantPeak) {
		t.Errorf("mean %v, peak %v; want %v, %v", o.Mean, o.Peak, wantMean, wantPeak)
	}
}
