package port

import (
	"slices"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// scripted is a scheme that says what a test wants, by the packet's hash.
type scripted struct{ arrive, depart map[uint32]aqm.Verdict }

func (s scripted) Arrive(_ time.Duration, k *packet.Packet, _ aqm.View) aqm.Verdict {
	return s.arrive[k.Hash]
}

func (s scripted) Depart(_ time.Duration, k *packet.Packet, _ aqm.View) aqm.Verdict {
	return s.depart[k.Hash]
}

// seen is what a watcher was told.
type seen struct {
	at   time.Duration
	hash uint32
	fate Fate
	ecn  packet.ECN
}

// Every packet has one fate, told when it leaves or is dropped, with its mark.
func TestWatchTellsEveryFate(t *testing.T) {
	pool := &packet.Pool{}
	p, err := New(Spec{Rate: units.Gbps, Queues: 2, Buffer: 6000, Scheduler: kind.Choice{Kind: "wrr"}, Scheme: kind.Choice{Kind: "droptail"}}, Kinds{}, pool.Put)
	if err != nil {
		t.Fatal(err)
	}
	p.scheme = scripted{
		arrive: map[uint32]aqm.Verdict{1: aqm.Mark, 2: aqm.Drop, 6: aqm.Mark, 7: aqm.MarkOrDrop},
		depart: map[uint32]aqm.Verdict{3: aqm.Mark, 4: aqm.Drop, 1: aqm.Mark},
	}
	var told []seen
	p.Watch(func(now time.Duration, q int, k *packet.Packet, f Fate) {
		if q != 1 {
			t.Errorf("packet %d is of queue %d", k.Hash, q)
		}
		told = append(told, seen{now, k.Hash, f, k.ECN})
	})
	for hash := range uint32(8) {
		k := pool.Get()
		k.Size, k.DSCP, k.ECN, k.Hash = 1000, 1, packet.ECT0, hash
		switch hash {
		case 5:
			k.Size = 3000 // with 0, 1, 3 and 4 beyond the buffer
		case 6:
			k.ECN = packet.CE // marked before: not by this port
		case 7:
			k.ECN = packet.NotECT
		}
		p.Enqueue(time.Duration(hash), k)
	}
	for k, _ := p.Dequeue(100); k != nil; k, _ = p.Dequeue(100) {
		pool.Put(k)
	}
	want := []seen{
		{2, 2, DroppedOnArrival, packet.ECT0},
		{5, 5, DroppedFull, packet.ECT0},
		{7, 7, DroppedOnArrival, packet.NotECT},
		{100, 0, Sent, packet.ECT0},
		{100, 1, MarkedOnArrival, packet.CE},
		{100, 3, MarkedOnDeparture, packet.CE},
		{100, 4, DroppedOnDeparture, packet.ECT0},
		{100, 6, Sent, packet.CE},
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%+v\nwant\n%+v", told, want)
	}
	if c := p.Count(1); c.Waited != 100+99+97+94 || p.TakeLongest(1) != 100 || p.TakeLongest(1) != 0 || c.Marked != 2 {
		t.Errorf("%+v: want 390 ns waited in all, 100 at most, and two marks", c)
	}
	if n := pool.Taken(); n != 0 {
		t.Errorf("%d packets were kept", n)
	}
}

// A scheme that estimates tells whom the port says, and another has nothing to say.
func TestPortPassesEstimatesOn(t *testing.T) {
	for scheme, want := range map[string]bool{"ideal-red": true, "mq-ecn": true, "pie": true, "droptail": false} {
		pool := &packet.Pool{}
		p, err := New(Spec{Rate: units.Gbps, RTTs: aqm.OneRTT(time.Millisecond), Queues: 2, Buffer: units.MB, Scheduler: kind.Choice{Kind: "dwrr"}, Scheme: kind.Choice{Kind: scheme}}, Kinds{}, pool.Put)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		if got := p.Estimates(func(_ time.Duration, e aqm.Estimate) { told++ }); got != want {
			t.Errorf("%s: %v", scheme, got)
		}
		for range 40 {
			k := pool.Get()
			k.Size, k.ECN = 1500, packet.ECT0
			p.Enqueue(0, k)
		}
		for now := time.Duration(0); p.Bytes() > 0; now += units.Gbps.Time(1538) {
			if k, _ := p.Dequeue(now); k != nil {
				pool.Put(k)
			}
		}
		if estimates := scheme == "ideal-red" || scheme == "mq-ecn"; (told > 0) != estimates { // pie goes by the sojourn time
			t.Errorf("%s told %d estimates", scheme, told)
		}
	}
}
