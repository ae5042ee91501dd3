//go:build linux

package e2e

import (
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/store"
)

// slowed is one long flow over links of 200 Mbps. The receiver's link has half of its rate
// from 100 ms to 200 ms, the sender's from 300 ms to 400 ms. From 500 ms on both have twice
// of it. The RTT is so short that the window with which a receiver begins fills the links:
// Linux 6.18 leaves a lone flow with that for long.
const slowed = `
name: slowed
topology: {hosts: 2, rate: 200Mbps}
rtt: 500us
host: {transport: dctcp}
switch: {buffer: {per_port: 400KB}}
schemes: [{name: tcn, aqm: tcn, threshold: 500us}]
workload: {arrival: {kind: static, count: [1]}, sizes: {kind: fixed, size: 16MB}, transfer: push, connections: 0}
collect: {queues: 1ms}
dilation: 10
events:
  - {at: 100ms, for: 100ms, link: s1:h1, rate: 100Mbps}
  - {at: 300ms, link: s1:h2, rate: 100Mbps}
  - {at: 400ms, link: s1:h2, rate: 200Mbps}
  - {at: 500ms, link: s1:h1, rate: 400Mbps}
  - {at: 500ms, link: s1:h2, rate: 400Mbps}
`

// TestEventsAlike: events have the same effect in every runtime. While a link has half of
// its rate, so has the flow, and before and after it has all of it.
func TestEventsAlike(t *testing.T) {
	lab := labFile(t, slowed)
	const ms = time.Millisecond
	// A link that is slower than before is full at once, and one that is faster when the
	// flow has grown. On the wall clock other programs can only make it slower.
	check := func(t *testing.T, run *store.Run, full, growing float64) {
		p := points(t, run)["tcn"]
		if len(run.Manifest.Events) != 5 || len(p.Flows) != 1 || !p.Flows[0].Completed() {
			t.Fatalf("manifest %+v, flows %+v", run.Manifest.Events, p.Flows)
		}
		// With 1538 bytes on the wire for a payload of 1448, 16 MB are 135.9 Mb. Until 500 ms
		// a link can carry 80 Mb of it, and takes 140 ms for the rest.
		for _, window := range []struct {
			from, to time.Duration
			mbps     float64
			least    float64 // of that
		}{
			{70 * ms, 100 * ms, 200, growing}, {105 * ms, 200 * ms, 100, full}, {220 * ms, 300 * ms, 200, growing},
			{305 * ms, 400 * ms, 100, full}, {420 * ms, 500 * ms, 200, growing}, {550 * ms, 620 * ms, 400, max(growing, 0.55)},
		} {
			got := sentIn(p, window.from, window.to)
			most := window.mbps * 1500 / 1538
			t.Logf("%v to %v: %.1f Mbps of %.1f", window.from, window.to, got, most)
			if got > 1.02*most || got < window.least*most {
				t.Errorf("%v to %v: h1 was sent %.1f Mbps, want at most %.1f and %.0f %% of it at least", window.from, window.to, got, most, 100*window.least)
			}
		}
		if took := p.Flows[0].FCT; took < 640*ms {
			t.Errorf("the flow took %v, want at least 640 ms", took)
		}
	}
	t.Run("sim", func(t *testing.T) {
		run, _ := runLab(t, plainVar, lab, "--runtime", "sim")
		check(t, run, 0.99, 0.95)
	})
	t.Run("netns", func(t *testing.T) {
		needRoot(t)
		run, _ := runLab(t, plainVar, lab, "--runtime", "netns")
		check(t, run, 0.8, 0.4)
	})
	t.Run("uml", func(t *testing.T) {
		run, _ := needGuest(t).run(t, lab)
		check(t, run, 0.99, 0.95)
	})
}

// flapping is one long flow between two racks with two paths. First one of these goes down
// for 50 ms, then the other, and then both. Routes follow after 2 ms.
const flapping = `
name: flapping
topology: {kind: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1, rate: 100Mbps, core_rate: 100Mbps, convergence: 2ms}
rtt: 500us
host: {transport: dctcp, rto_min: 5ms}
switch: {buffer: {per_port: 200KB}}
schemes: [{name: tcn, aqm: tcn, threshold: 500us}]
workload: {arrival: {kind: static, count: [1]}, sizes: {kind: fixed, size: 5MB}, transfer: push, connections: 0}
collect: {queues: 1ms}
dilation: 10
events:
  - {at: 50ms, for: 50ms, link: l1:p1, down: true}
  - {at: 150ms, for: 50ms, link: l1:p2, down: true}
  - {at: 250ms, for: 50ms, link: l1:p1, down: true}
  - {at: 250ms, for: 50ms, link: l1:p2, down: true}
`

// TestFlapsAlike: a link that goes down loses what is on it, in every runtime. The flow goes
// on over the other path where there is one; where there is none, nothing comes.
func TestFlapsAlike(t *testing.T) {
	lab := labFile(t, flapping)
	const ms = time.Millisecond
	// By the middle of a flap the flow is through with a timeout of 5 ms and a slow start of
	// less than 20. After the last it has had timeouts of 5, 10, 20 and 40 ms, or little more.
	check := func(t *testing.T, run *store.Run, least float64) {
		p := points(t, run)["tcn"]
		const most = 100 * 1500. / 1538
		for _, window := range [][2]time.Duration{{20 * ms, 50 * ms}, {75 * ms, 100 * ms}, {120 * ms, 150 * ms}, {175 * ms, 200 * ms}, {375 * ms, 400 * ms}} {
			got := sentIn(p, window[0], window[1])
			t.Logf("%v: %.1f Mbps of %.1f", window, got, most)
			if got > 1.02*most || got < least*most {
				t.Errorf("%v: h1 was sent %.1f Mbps, want at most %.1f and %.0f %% of it at least", window, got, most, 100*least)
			}
		}
		if got := sentIn(p, 255*ms, 300*ms); got > 0 {
			t.Errorf("h1 was sent %.3f Mbps without any path", got)
		}
		var lost int64
		for _, l := range p.Links {
			lost += l.LostDown
		}
		retransmits := p.Hosts[1].Retransmits
		if !p.Flows[0].Completed() || lost == 0 || retransmits == 0 || results.CountsOf(p).LinkLosses != lost {
			t.Errorf("%d packets lost, %d retransmitted; %+v", lost, retransmits, p.Flows)
		}
	}
	t.Run("sim", func(t *testing.T) {
		run, _ := runLab(t, plainVar, lab, "--runtime", "sim")
		check(t, run, 0.9)
	})
	t.Run("netns", func(t *testing.T) {
		needRoot(t)
		run, _ := runLab(t, plainVar, lab, "--runtime", "netns")
		check(t, run, 0.4)
	})
	t.Run("uml", func(t *testing.T) {
		run, _ := needGuest(t).run(t, lab)
		check(t, run, 0.9)
	})
}

// sentIn is the rate, in Mbps of network-layer bytes, at which h1 was sent data meanwhile.
func sentIn(p results.Point, from, to time.Duration) float64 {
	var bytes int64
	for _, q := range p.Queues {
		if q.Port == "h1" && q.At > from && q.At <= to {
			bytes += q.Sent
		}
	}
	return float64(8*bytes) / float64((to - from).Microseconds())
}
