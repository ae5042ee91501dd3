package kernelaqm_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/e2e/vm/kernelaqm"
	"aqmlab/kind"
	"aqmlab/switch/aqm"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// rate is slow enough for a packet's time on the link, 0.6 ms, to be far above
// what the guest takes to send it.
const rate = 20 * units.Mbps

// fate is what became of a packet.
type fate uint8

const (
	passed fate = iota
	marked
	dropped
)

func (f fate) String() string { return [...]string{"passed", "marked", "dropped"}[f] }

// record runs the kernel's discipline.
func record(t *testing.T, q kernelaqm.Qdisc, packets []kernelaqm.Packet) []kernelaqm.Event {
	t.Helper()
	events, err := kernelaqm.Record(q, rate, packets)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// sent is how many packets came.
func sent(events []kernelaqm.Event) (n int) {
	for _, e := range events {
		if e.Kind == kernelaqm.Arrival {
			n++
		}
	}
	return n
}

// kernelFates is what the kernel did with each packet: one that did not leave was
// dropped, when it came or on the way out.
func kernelFates(events []kernelaqm.Event) []fate {
	fates := slices.Repeat([]fate{dropped}, sent(events))
	for _, e := range events {
		if e.Kind == kernelaqm.Departure {
			fates[e.Number] = passed
			if e.Marked {
				fates[e.Number] = marked
			}
		}
	}
	return fates
}

// scheme names one of ours, and what it draws its random numbers from (a
// generator of the port's own when nil).
type scheme struct {
	kind   string
	params map[string]any
	random rand.Source
}

// newPort builds a port with one queue and no limiter: replay decides when
// packets leave.
func (s scheme) newPort(t *testing.T, release func(*packet.Packet)) *port.Port {
	t.Helper()
	row := kind.Row("replayed", "the scheme under test", struct{}{}, func(_ struct{}, env aqm.Env) (aqm.Scheme, error) {
		if s.random != nil {
			env.Rand = rand.New(s.random)
		}
		return aqm.Table().New(s.kind, s.params, env)
	})
	kinds, err := port.NewKinds([]aqm.Kind{row}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := port.New(port.Spec{
		Rate: rate, Queues: 1, Buffer: units.GB, RTTs: aqm.OneRTT(100 * time.Millisecond),
		Scheduler: kind.Choice{Kind: "fifo"},
		Scheme:    kind.Choice{Kind: "replayed"},
		Seed:      1,
	}, kinds, release)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// replay puts the kernel's packets through our pipeline, each at the times at
// which it came and went in the kernel, and returns what our scheme did with
// them. before, if not nil, sees each event first.
func replay(t *testing.T, s scheme, events []kernelaqm.Event, before func(*kernelaqm.Event)) []fate {
	t.Helper()
	fates := make([]fate, sent(events))
	var pool packet.Pool
	p := s.newPort(t, func(k *packet.Packet) {
		fates[k.Hash] = dropped
		pool.Put(k)
	})
	for _, e := range events {
		if before != nil {
			before(&e)
		}
		switch e.Kind {
		case kernelaqm.Arrival:
			k := pool.Get()
			// Size is what the kernel counts, so that thresholds mean the same.
			k.Size, k.ECN, k.Hash = int32(e.Bytes), packet.ECT0, uint32(e.Number)
			p.Enqueue(e.Now, k)
		case kernelaqm.Departure:
			k, _ := p.Dequeue(e.Now)
			if k == nil {
				continue // ours dropped more: the fates tell
			}
			if k.ECN == packet.CE {
				fates[k.Hash] = marked
			}
			pool.Put(k)
		}
	}
	return fates
}

// count is how many packets had that fate.
func count(fates []fate, which fate) (n int) {
	for _, f := range fates {
		if f == which {
			n++
		}
	}
	return n
}

// agree compares packet by packet, and wants enough marks or drops for that to
// mean something.
func agree(t *testing.T, kernel, ours []fate, atLeast int) {
	t.Helper()
	acted := len(kernel) - count(kernel, passed)
	t.Logf("%d packets, %d marked, %d dropped by the kernel", len(kernel), count(kernel, marked), count(kernel, dropped))
	if acted < atLeast {
		t.Errorf("only %d packets are marked or dropped: too few to compare", acted)
	}
	differ := 0
	for i := range kernel {
		if kernel[i] == ours[i] {
			continue
		}
		if differ++; differ <= 5 {
			t.Errorf("packet %d: %v by the kernel, %v by ours", i, kernel[i], ours[i])
		}
	}
	if differ > 0 {
		t.Errorf("%d of %d packets differ", differ, len(kernel))
	}
}
