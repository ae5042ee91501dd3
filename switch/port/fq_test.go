package port

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// fqCoDel is FQ-CoDel (RFC 8290) behind a port of 1 Gbps with two classes.
func fqCoDel(params map[string]any) Spec {
	spec := testbed("codel", params)
	spec.Queues, spec.Scheduler = 2, kind.Choice{Kind: "fq"}
	return spec
}

func flowPacket(pool *packet.Pool, flow uint32, class uint8, size int32) *packet.Packet {
	k := get(pool, class, size, packet.ECT0)
	k.Hash = flow
	return k
}

// TestFQCoDelControlsEachFlow: each flow has a CoDel of its own. What waits behind a flow
// that sends too much is marked, and a flow of the same class that sends little waits for
// less than a round, and is not.
func TestFQCoDelControlsEachFlow(t *testing.T) {
	spec := fqCoDel(map[string]any{"target": "50us", "interval": "500us"})
	spec.Buffer = 10 * units.MB
	p, pool := build(t, spec)
	var marked, longest [3]time.Duration
	for i := range 4000 {
		now := time.Duration(i) * 12304 // of a full packet
		p.Enqueue(now, flowPacket(pool, 1, 0, 1500))
		if i%20 == 0 {
			p.Enqueue(now, flowPacket(pool, 2, 0, 700))
		}
		k, _ := p.Dequeue(now)
		flow := k.Hash
		if k.Marked {
			marked[flow]++
		}
		longest[flow] = max(longest[flow], now-k.Enqueued)
		pool.Put(k)
	}
	if marked[1] == 0 || marked[2] > 0 || longest[2] > 25*time.Microsecond {
		t.Errorf("%d and %d marks; the small flow waited for up to %v", marked[1], marked[2], longest[2])
	}
}

// TestFQPushesOut: a packet that finds no room gets it from the longest flow, whose head is
// dropped and counted for its own class (RFC 8290, section 4.1).
func TestFQPushesOut(t *testing.T) {
	spec := fqCoDel(nil)
	spec.Buffer = 15 * units.KB
	p, pool := build(t, spec)
	var dropped []time.Duration
	p.Watch(func(_ time.Duration, q int, k *packet.Packet, f Fate) {
		if f == DroppedFull {
			dropped = append(dropped, k.Enqueued)
		}
	})
	for i := range 10 {
		p.Enqueue(time.Duration(i), flowPacket(pool, 1, 0, 1500))
	}
	if !p.Enqueue(10, flowPacket(pool, 2, 1, 1000)) {
		t.Fatal("the packet of the new flow was dropped")
	}
	if len(dropped) != 5 || dropped[0] != 0 || dropped[4] != 4 {
		t.Errorf("dropped those that came at %v, want the first half", dropped)
	}
	if a, b := p.Count(0), p.Count(1); a.DropsFull != 5 || b.DropsFull != 0 || p.QueueBytes(0) != 7500 || p.QueueBytes(1) != 1000 || p.Bytes() != 8500 || pool.Taken() != 6 {
		t.Errorf("%+v and %+v, %d bytes", a, b, p.Bytes())
	}
	if p.Enqueue(11, flowPacket(pool, 3, 0, 20000)) {
		t.Error("took a packet larger than the buffer")
	}
}

// TestFQDropsAreFree: with action drop, what CoDel drops does not use up the flow's turn.
// The packet behind it goes in its place.
func TestFQDropsAreFree(t *testing.T) {
	p, pool := build(t, fqCoDel(map[string]any{"action": "drop", "target": "1ns", "interval": "1ns"}))
	for range 6 {
		p.Enqueue(0, flowPacket(pool, 1, 0, 1500))
	}
	for range 3 {
		p.Enqueue(0, flowPacket(pool, 2, 0, 1500))
	}
	var order []uint32
	for now := time.Second; p.Bytes() > 0; now += time.Millisecond {
		if k, _ := p.Dequeue(now); k != nil {
			order = append(order, k.Hash)
			pool.Put(k)
		}
	}
	if p.Count(0).DropsScheme == 0 {
		t.Fatal("CoDel dropped nothing: the test shows nothing")
	}
	for i := 1; i < len(order) && i < 4; i++ {
		if order[i] == order[i-1] {
			t.Errorf("sent %v: flows do not take turns", order)
		}
	}
}

// TestChangeToFQ: a port with packets goes on under fair queueing, and back.
func TestChangeToFQ(t *testing.T) {
	plain, fair := testbed("codel", nil), fqCoDel(nil)
	plain.Queues, plain.Scheduler = 2, kind.Choice{Kind: "dwrr"}
	p, pool := build(t, plain)
	for i := range uint32(20) {
		p.Enqueue(0, flowPacket(pool, i%3, uint8(i%2), 1000))
	}
	for _, step := range [][2]Spec{{plain, fair}, {fair, plain}, {plain, fair}} {
		change, err := p.Change(step[0], step[1], Kinds{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		change(time.Millisecond)
		if p.Bytes() != 20_000 || p.QueueBytes(0) != 10_000 {
			t.Fatalf("%d bytes, %d of class 0", p.Bytes(), p.QueueBytes(0))
		}
	}
	for n := 0; p.Bytes() > 0; n++ {
		k, _ := p.Dequeue(time.Second)
		if k == nil || n > 20 {
			t.Fatalf("packet %d does not leave", n)
		}
		pool.Put(k)
	}
}
