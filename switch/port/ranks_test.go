package port

import (
	"slices"
	"testing"

	"aqmlab/kind"
	"aqmlab/switch/packet"
)

// ranked builds a port of one queue and room for ten packets, under a scheduler that ranks
// packets by what remains of their messages.
func ranked(t *testing.T, scheduler string, params map[string]any) (*Port, func(left uint32) bool, func() []uint32) {
	spec := testbed("droptail", nil)
	spec.Queues, spec.Buffer, spec.Scheduler = 1, 10_000, kind.Choice{Kind: scheduler, Params: params}
	p, pool := build(t, spec)
	arrive := func(left uint32) bool {
		k := get(pool, 0, 1000, packet.NotECT)
		k.Segment.Left = left
		return p.Enqueue(0, k)
	}
	leave := func() (order []uint32) {
		for p.Bytes() > 0 {
			k, _ := p.Dequeue(0)
			order = append(order, k.Segment.Left)
			pool.Put(k)
		}
		return order
	}
	return p, arrive, leave
}

// TestFullPriorityDrops: a packet whose priority is full is dropped and counted, though the
// buffer has room.
func TestFullPriorityDrops(t *testing.T) {
	p, arrive, leave := ranked(t, "sp-pifo", map[string]any{"priorities": 2, "depth": 1})
	if !arrive(5) || arrive(6) || !arrive(1) {
		t.Error("each of two priorities is to hold one packet")
	}
	if c := p.Count(0); c.DropsFull != 1 || c.Enqueued != 2 || p.Bytes() != 2000 {
		t.Errorf("%+v, %d bytes", c, p.Bytes())
	}
	if got := leave(); !slices.Equal(got, []uint32{1, 5}) {
		t.Errorf("packets leave as %v", got)
	}
}

// TestAIFOFillsBuffer: the capacity is the buffer. Beyond a tenth of it a rank is taken below
// which few enough of the recent ones are.
func TestAIFOFillsBuffer(t *testing.T) {
	p, arrive, leave := ranked(t, "aifo", map[string]any{"sample": 1, "window": 4})
	want := []uint32{4, 4, 4, 4, 4}
	for range want {
		arrive(4)
	}
	if arrive(5) || !arrive(3) { // half is free: 0.56 of the window may be below
		t.Error("the ranks of the packets do not decide")
	}
	if got := leave(); !slices.Equal(got, append(want, 3)) || p.Count(0).DropsFull != 1 {
		t.Errorf("packets leave as %v", got)
	}
}

// TestPIFOPushesOut: the largest rank makes room for a smaller one, and is counted as dropped.
func TestPIFOPushesOut(t *testing.T) {
	p, arrive, leave := ranked(t, "pifo", map[string]any{"rank": "srpt", "by": "packet"})
	for left := range uint32(10) {
		arrive(left)
	}
	if !arrive(0) || arrive(8) {
		t.Error("9 is to make room for 0, and 8 for nothing")
	}
	if c := p.Count(0); c.DropsFull != 2 || c.Enqueued != 10 {
		t.Errorf("%+v", c)
	}
	if got := leave(); !slices.Equal(got, []uint32{0, 0, 1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("packets leave as %v", got)
	}
}
