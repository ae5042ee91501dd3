package aqm_test

import (
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestCoDelDropsThroughAPort: forty packets that came at once are asked for at
// five moments. The first is a first sight. At 1101 us an interval is over: one
// drop, the next due at 2101 us. At 3000 us two are due, 2101 and 2808.1 us. At
// 3385 us none is, at 3386 us one, of 3385.5 us. Each time one packet leaves.
func TestCoDelDropsThroughAPort(t *testing.T) {
	var pool packet.Pool
	p, err := port.New(port.Spec{
		Rate: units.Gbps, Queues: 1, Buffer: 96 * units.KB,
		Scheduler: kind.Choice{Kind: "fifo"},
		Scheme:    kind.Choice{Kind: "codel", Params: map[string]any{"target": "50us", "interval": "1ms", "action": "drop"}},
	}, port.Kinds{}, pool.Put)
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		k := pool.Get()
		k.Size, k.ECN = 1500, packet.ECT0
		p.Enqueue(0, k)
	}
	for i, tt := range []struct {
		at    time.Duration
		drops int64
	}{{100, 0}, {1101, 1}, {3000, 3}, {3385, 3}, {3386, 4}} {
		k, _ := p.Dequeue(tt.at * time.Microsecond)
		if k == nil || k.ECN != packet.ECT0 {
			t.Fatalf("at %d us: got %v, want an unmarked packet", tt.at, k)
		}
		if c := p.Count(0); c.DropsScheme != tt.drops || c.Sent != int64(i+1) || c.Marked != 0 {
			t.Errorf("at %d us: %d dropped, %d sent, %d marked; want %d, %d, 0", tt.at, c.DropsScheme, c.Sent, c.Marked, tt.drops, i+1)
		}
	}
}
