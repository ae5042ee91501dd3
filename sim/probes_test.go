package sim

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// probing sends packets of DSCP 0 from host 3 to host 0.
func probing(c Config, change func(*traffic.Probe)) Config {
	p := traffic.Probe{Name: "p", From: 3, To: 0, Every: ms}
	change(&p)
	c.Probes, c.Patience = append(c.Probes, p), time.Second
	return c
}

// hop is what a probe takes for one link: 64 bytes, and those of Ethernet.
const hop = (64+packet.FrameOverhead)*8*time.Nanosecond + 10*us

// TestProbeOfAnIdlePath: a probe takes the way there and back, two links each,
// to the nanosecond, whatever its queue.
func TestProbeOfAnIdlePath(t *testing.T) {
	c := star(4)
	elsewhere := flow(0, 1, 1, 1_000_000)
	elsewhere.Client = 2
	c.Flows = pushed(elsewhere)
	for dscp := range uint8(4) {
		o := outcome(t, probing(c, func(p *traffic.Probe) { p.DSCP = dscp }))
		if len(o.Probes) < 8 {
			t.Fatalf("%d probes in 8 ms and more", len(o.Probes))
		}
		for i, s := range o.Probes {
			want := results.ProbeSample{Probe: "p", At: time.Duration(i) * ms, RTT: 4 * hop}
			if s != want {
				t.Errorf("DSCP %d: sample %d is %+v, want %+v", dscp, i, s, want)
			}
		}
	}
}

func outcome(t *testing.T, c Config) Outcome {
	t.Helper()
	s, o := simulate(t, c)
	completed(t, o)
	if n := drain(s); n != 0 || s.probes.underWay != 0 {
		t.Errorf("%d packets are not accounted for, %d of them probes", n, s.probes.underWay)
	}
	return o
}

// TestProbeWaitsInItsQueue: a probe that arrives behind two bursts waits until
// they have left, and in another queue for its turn.
func TestProbeWaitsInItsQueue(t *testing.T) {
	const burst = 10 // segments, the initial window
	c := star(4)
	c.Flows = pushed(flow(0, 5*us, 1, burst*mss), flow(1, 5*us, 2, burst*mss))
	segment := onWire(mss)
	sent := 5*us + burst*segment + us // reaches the switch behind the last segment
	c = probing(c, func(p *traffic.Probe) { p.Start = sent })
	o := outcome(t, c)
	// Both bursts arrive at once; the switch sends from the first segment on.
	left := 5*us + segment + 10*us + 2*burst*segment
	if got, want := o.Probes[0].RTT, left-sent+3*hop; got != want {
		t.Errorf("behind the bursts: %v, want %v", got, want)
	}
	c.Probes[0].DSCP = 1
	// The segment being sent and one turn of the full queue come before.
	if got := outcome(t, c).Probes[0].RTT; got < 4*hop || got > 4*hop+2*segment {
		t.Errorf("beside the bursts: %v, want at most two segments above %v", got, 4*hop)
	}
}

// TestProbeSeesALongFlow: with a flow that fills the buffer, the probe of its
// queue sees the delay of a full one.
func TestProbeSeesALongFlow(t *testing.T) {
	c := star(4)
	c.Fabric.Port.Buffer = 100 * units.KB
	greedy, other := flow(0, 1, 1, traffic.MaxBytes), flow(1, 1, 2, traffic.MaxBytes)
	greedy.Stop, other.Stop = 200*ms, 200*ms
	c.Flows = pushed(greedy, other)
	c = probing(c, func(p *traffic.Probe) { p.Start, p.Stop = 50*ms, 150*ms })
	o := outcome(t, c)
	if n := len(o.Probes); n != 100 {
		t.Fatalf("%d probes from 50 to 150 ms", n)
	}
	full := units.Gbps.Time(100_000/1500*1538 + 1538 + 90) // and the segment being sent, and an ACK before the answer
	sum := results.SummarizeProbes(o.Probes)[0]
	longest := time.Duration(sum.RTT.P99 * 1e3)
	if longest < 4*hop+full/2 || longest > 4*hop+full {
		t.Errorf("p99 %v: want above half of the %v that a full buffer takes, and no more", longest, full)
	}
}

// TestLostProbes: what the switch drops is lost, and nothing else.
func TestLostProbes(t *testing.T) {
	c := star(9)
	c.Fabric.Port.Buffer = 15 * units.KB
	c.Flows = websearch(t, 9, 400)
	c = probing(c, func(p *traffic.Probe) { p.Every = 20 * us })
	s, o := simulate(t, c)
	if s.probes.underWay != 0 {
		t.Errorf("%d probes are neither back nor lost", s.probes.underWay)
	}
	lost := 0
	for _, p := range o.Probes {
		if p.Lost {
			lost++
		}
		if p.Lost != (p.RTT == 0) || !p.Lost && p.RTT < 4*hop {
			t.Errorf("sample %+v", p)
		}
	}
	if lost == 0 || lost > len(o.Probes)/2 {
		t.Errorf("%d of %d probes were lost", lost, len(o.Probes))
	}
	// With no room for a probe every one is lost; the flow cannot end, either.
	c.Fabric.Port.Buffer, c.Flows, c.Stall = 60, c.Flows[:1], 100*ms
	c.Probes[0].Every = ms
	_, o = simulate(t, c)
	if sum := results.SummarizeProbes(o.Probes)[0]; sum.Sent < 100 || sum.Lost != sum.Sent {
		t.Errorf("%+v, want all lost", sum)
	}
}

// TestAnswersAfterTheEnd: an answer that comes after the last flow counts, but
// not one that takes longer than the patience.
func TestAnswersAfterTheEnd(t *testing.T) {
	c := star(4)
	c.Flows = pushed(flow(0, us, 1, 100))
	c = probing(c, func(p *traffic.Probe) { p.Start = 10 * us })
	for patience, lost := range map[time.Duration]bool{time.Second: false, us: true} {
		c.Patience = patience
		_, o := simulate(t, c)
		if len(o.Probes) != 1 || o.Probes[0].Lost != lost {
			t.Errorf("patience %v: %+v", patience, o.Probes)
		}
	}
}

func TestProbesAreDeterministic(t *testing.T) {
	c := star(9)
	c.Fabric.Port.Buffer = 60 * units.KB
	c.Flows = websearch(t, 9, 200)
	c = probing(c, func(p *traffic.Probe) { p.Every = 100 * us })
	c = probing(c, func(p *traffic.Probe) { p.Name, p.Every, p.DSCP = "q", 70*us, 1 })
	_, one := simulate(t, c)
	_, two := simulate(t, c)
	if !reflect.DeepEqual(one, two) {
		t.Error("two runs of one configuration differ")
	}
	if sums := results.SummarizeProbes(one.Probes); len(sums) != 2 || sums[0].Probe != "p" || sums[1].Sent <= sums[0].Sent {
		t.Errorf("%+v", sums)
	}
}

func TestBadProbe(t *testing.T) {
	c := probing(star(4), func(p *traffic.Probe) { p.To = 4 })
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "probe p") {
		t.Errorf("error %v", err)
	}
}

// TestRecordsNameQueries: records say which query and workload a flow is of,
// and whether it stops.
func TestRecordsNameQueries(t *testing.T) {
	f := flow(0, 1, 1, 100)
	f.Query, f.Workload, f.Stop, f.Rate, f.Push = 7, 2, ms, 1000, true
	if r := records([]traffic.Flow{f})[0]; r.Query != 7 || r.Workload != 2 || !r.Stops || r.Stop != ms || r.Rate != 1000 || !r.Push {
		t.Errorf("record %+v", r)
	}
}
