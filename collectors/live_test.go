package collectors

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestLive: what it has counted of a burst, looked at twice, is what the ports have
// counted and what samples say: marks and drops by cause, bytes, and sojourn times.
func TestLive(t *testing.T) {
	spec := star(3, 15*units.KB, kind.Choice{Kind: "codel", Params: map[string]any{"target": "10us", "interval": "100us"}})
	loop, network, pool := build(t, spec)
	live, samples := &Live{}, NewQueues(10*time.Microsecond)
	live.Attach(loop, network)
	samples.Attach(loop, network)
	for range 20 {
		for src := range 2 {
			k := pool.Get()
			k.Dst, k.Size, k.DSCP, k.ECN = 2, 1500, 1, packet.ECT0
			network.Send(0, src, k)
		}
	}
	var longest time.Duration
	var at2 QueueLook
	for _, until := range []time.Duration{200 * time.Microsecond, 10 * time.Millisecond} {
		loop.RunUntil(until)
		look := live.Look(loop.Now())
		if look.At != until || len(look.Queues) != 6 {
			t.Fatalf("at %v: %d queues at %v", until, len(look.Queues), look.At)
		}
		at2 = look.Queues[5]
		p := network.Ports()[2]
		c := p.Count(1)
		if at2.Switch != "s1" || at2.Port != "h3" || at2.Queue != 1 || at2.Bytes != p.QueueBytes(1) || at2.Bytes != 1500*at2.Packets {
			t.Errorf("at %v: %+v, the port holds %d bytes", until, at2, p.QueueBytes(1))
		}
		f := at2.Fates
		if f[port.DroppedFull] != c.DropsFull || f[port.MarkedOnDeparture] != c.Marked || f[port.Sent]+c.Marked != c.Sent || at2.SentBytes != c.SentBytes || at2.Waited != c.Waited {
			t.Errorf("at %v: %+v, the port counted %+v", until, at2, c)
		}
		if f[port.DroppedFull] == 0 || f[port.MarkedOnDeparture] == 0 {
			t.Errorf("at %v: nothing is marked, or dropped: %v", until, f)
		}
	}
	for _, s := range samples.Samples() {
		longest = max(longest, s.PeakWaited)
	}
	if got := at2.Times.Quantile(1); got != longest {
		t.Errorf("the longest sojourn time is %v, in samples %v", got, longest)
	}
	if at2.Packets != 0 {
		t.Errorf("%+v is not empty at the end", at2)
	}
}

// TestLiveAllocatesNothing: a packet through a queue that was used before costs no memory.
func TestLiveAllocatesNothing(t *testing.T) {
	loop, network, pool := build(t, star(2, units.MB, kind.Choice{Kind: "droptail"}))
	(&Live{}).Attach(loop, network)
	at := time.Duration(0)
	send := func() {
		k := pool.Get()
		k.Dst, k.Size, k.DSCP, k.ECN = 1, 1500, 0, packet.ECT0
		at += 20 * time.Microsecond
		network.Send(at, 0, k)
		loop.RunUntil(at)
	}
	send()
	send()
	if n := testing.AllocsPerRun(1000, send); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
