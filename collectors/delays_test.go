package collectors

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/results"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestDelays: of a burst of two DSCPs it counts what the port has counted, and each
// packet's sojourn time to a 32nd: the port sends a packet of 1538 bytes on the wire in
// 12304 ns, so that the n-th of ten that arrive at once waits n-1 of these times.
func TestDelays(t *testing.T) {
	spec := star(3, 200*units.KB, kind.Choice{Kind: "droptail"})
	spec.Port.Queues, spec.Port.Scheduler = 1, kind.Choice{Kind: "fifo"}
	for i := range spec.Links {
		if i != 2 {
			spec.Links[i].Rate = 1000 * units.Gbps // all come at once, but for 12 ns each
		}
	}
	loop, network, pool := build(t, spec)
	c, live := &Delays{}, &Live{}
	c.Attach(loop, network)
	live.Attach(loop, network) // which does not take the place of what watches already
	for i := range 10 {
		k := pool.Get()
		k.Dst, k.Size, k.DSCP, k.ECN = 2, 1500, uint8(i%2*7), packet.ECT0
		network.Send(0, 0, k)
	}
	loop.RunUntil(10 * time.Millisecond)
	classes, delays := c.End()
	if len(classes) != 2 || classes[0].DSCP != 0 || classes[1].DSCP != 7 {
		t.Fatalf("%+v", classes)
	}
	for i, k := range classes {
		if k.Switch != "s1" || k.Port != "h3" || k.Queue != 0 || k.Sent != 5 || k.SentBytes != 7500 || k.Marked+k.DropsFull+k.DropsScheme != 0 {
			t.Errorf("%+v", k)
		}
		var packets int64
		for _, d := range delays {
			if d.Queue != 0 || d.Port != "h3" {
				t.Errorf("%+v", d)
			}
			if int(d.DSCP) != k.DSCP {
				continue
			}
			n := 2*packets + int64(i) // packets before it
			exact := time.Duration(n) * (12304 - 12)
			if packets += d.Packets; d.Packets != 1 || d.UpTo < exact || d.UpTo > exact+exact/32+12 {
				t.Errorf("DSCP %d: %+v, want a time from %v on", k.DSCP, d, exact)
			}
		}
		if packets != k.Sent || k.Longest > delays[len(delays)-1].UpTo {
			t.Errorf("DSCP %d: %d packets in all, longest %v", k.DSCP, packets, k.Longest)
		}
	}
	if look := live.Look(loop.Now()); look.Queues[2].Fates[0] != 10 {
		t.Errorf("the other collector saw %+v", look.Queues[2])
	}
}

// TestDelaysCountFates: packets that find no room, that the scheme drops and that it marks
// are told apart as the port tells them.
func TestDelaysCountFates(t *testing.T) {
	spec := star(3, 15*units.KB, kind.Choice{Kind: "codel", Params: map[string]any{"target": "10us", "interval": "100us"}})
	loop, network, pool := build(t, spec)
	c := &Delays{}
	c.Attach(loop, network)
	for i := range 40 {
		k := pool.Get()
		k.Dst, k.Size, k.DSCP, k.ECN = 2, 1500, uint8(i%2), packet.ECN(i%2*int(packet.ECT0))
		network.Send(0, i%2, k)
	}
	loop.RunUntil(10 * time.Millisecond)
	classes, _ := c.End()
	var all results.ClassCount
	for _, k := range classes {
		p := network.Ports()[2].Count(k.Queue)
		if k.Queue != k.DSCP || k.Sent != p.Sent || k.SentBytes != p.SentBytes || k.Marked != p.Marked || k.DropsFull != p.DropsFull || k.DropsScheme != p.DropsScheme || k.Waited != p.Waited {
			t.Errorf("%+v, the port counted %+v", k, p)
		}
		all.Marked, all.DropsFull, all.DropsScheme = all.Marked+k.Marked, all.DropsFull+k.DropsFull, all.DropsScheme+k.DropsScheme
	}
	if len(classes) != 2 || all.Marked == 0 || all.DropsFull == 0 {
		t.Errorf("%+v", classes)
	}
}

// TestFramesAsResultsCountThem: packages of results import no header sizes, and know of one.
func TestFramesAsResultsCountThem(t *testing.T) {
	for _, size := range []int{46, 64, 1500, 9000} {
		if got, want := results.OnWire(int64(3*size), 3), int64(3*packet.OnWire(size)); got != want {
			t.Errorf("three packets of %d bytes: %d on the wire, want %d", size, got, want)
		}
	}
}

// TestDelaysAllocateNothing: once a class is known, a packet costs no memory.
func TestDelaysAllocateNothing(t *testing.T) {
	loop, network, pool := build(t, star(3, 200*units.KB, kind.Choice{Kind: "droptail"}))
	c := &Delays{}
	c.Attach(loop, network)
	send := func() {
		k := pool.Get()
		k.Dst, k.Size, k.DSCP = 2, 1500, 1
		network.Send(loop.Now(), 0, k)
		loop.RunUntil(loop.Now() + time.Millisecond)
	}
	send()
	if n := testing.AllocsPerRun(100, send); n > 0 {
		t.Errorf("%v allocations a packet", n)
	}
}
