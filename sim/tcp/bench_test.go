package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// wire is a link with a constant delay and no queue: it serializes nothing, and
// holds what is under way in one FIFO for both directions.
type wire struct {
	loop  event.Loop
	pool  packet.Pool
	ends  [2]*Endpoint
	way   packet.Queue
	timer *event.Timer
	n     Counters
	user  tally
	lose  int // every so many packets with payload; zero: none
	sent  int
}

const wireDelay = 50 * us

func (w *wire) carry(now time.Duration, _ int, k *packet.Packet) {
	if w.lose > 0 && k.Segment.Len > 0 {
		if w.sent++; w.sent%w.lose == 0 {
			w.pool.Put(k)
			return
		}
	}
	k.Due = now + wireDelay
	if w.way.Push(k); w.way.Len() == 1 {
		w.loop.Schedule(w.timer, k.Due)
	}
}

func (w *wire) arrive(now time.Duration) {
	k := w.way.Pop()
	if next := w.way.Head(); next != nil {
		w.loop.Schedule(w.timer, next.Due)
	}
	w.ends[k.Dst].Receive(now, k)
}

// newWire is a long flow with at most 100 segments outstanding.
func newWire(tb testing.TB, c Config, lose int) *wire {
	w := &wire{lose: lose}
	w.timer = event.NewTimer(w.arrive)
	c.MSS, c.ReceiveWindow = 1448, 100*1448
	s, err := NewStack(&w.loop, &w.pool, w.carry, c)
	if err != nil {
		tb.Fatal(err)
	}
	for i := range w.ends {
		w.ends[i] = s.Endpoint()
		w.ends[i].Establish(Ends{Local: int32(i), Remote: int32(1 - i), Conn: 1}, &w.n, &w.user)
	}
	w.ends[0].Write(0, 1<<60, Tag{})
	return w
}

// step runs until a full segment more is acknowledged.
func (w *wire) step() {
	for until := w.ends[0].una + 1448; w.ends[0].una < until; {
		w.loop.Step()
	}
}

// BenchmarkSegment is the cost of a data segment and its ACK: both ends, two
// deliveries, and their events.
func BenchmarkSegment(b *testing.B) {
	for _, control := range Controls().Names() {
		b.Run(control, func(b *testing.B) { benchmark(b, newWire(b, config(control), 0)) })
	}
	b.Run("dctcp, a loss in 200", func(b *testing.B) { benchmark(b, newWire(b, config("dctcp"), 200)) })
	b.Run("dctcp, sack", func(b *testing.B) { benchmark(b, newWire(b, sackConfig("dctcp"), 0)) })
	b.Run("dctcp, sack, a loss in 200", func(b *testing.B) { benchmark(b, newWire(b, sackConfig("dctcp"), 200)) })
}

func benchmark(b *testing.B, w *wire) {
	for range 100_000 {
		w.step()
	}
	b.ReportAllocs()
	for b.Loop() {
		w.step()
	}
}

// TestNoAllocations: in steady state nothing is allocated, losses or not, nor
// for a connection that takes over released endpoints.
func TestNoAllocations(t *testing.T) {
	for _, control := range Controls().Names() {
		for _, recovery := range recoveries {
			c := config(control)
			c.LossRecovery = recoveryFor(control, recovery)
			testNoAllocations(t, c)
		}
	}
}

func testNoAllocations(t *testing.T, c Config) {
	for _, lose := range []int{0, 7, 100} {
		w := newWire(t, c, lose)
		for range 20_000 {
			w.step()
		}
		if n := testing.AllocsPerRun(2000, w.step); n != 0 {
			t.Errorf("%s, %s, a loss in %d: %v allocations a segment", c.Control.Kind, c.LossRecovery, lose, n)
		}
	}
	w := newWire(t, c, 0)
	w.reconnect(t)
	if n := testing.AllocsPerRun(200, func() { w.reconnect(t) }); n != 0 {
		t.Errorf("%s, %s: %v allocations a connection", c.Control.Kind, c.LossRecovery, n)
	}
}

// reconnect opens another connection between the ends by a handshake, and sends
// a few segments.
func (w *wire) reconnect(t *testing.T) {
	s := w.ends[0].stack
	conn := w.ends[0].ends.Conn + 1
	for i, e := range w.ends {
		e.Release()
		w.ends[i] = s.Endpoint()
	}
	w.ends[1].Listen(Ends{Local: 1, Remote: 0, Conn: conn}, &w.n, &w.user)
	w.ends[0].Open(w.loop.Now(), Ends{Local: 0, Remote: 1, Conn: conn}, &w.n, &w.user)
	w.ends[0].Write(w.loop.Now(), 20*1448, Tag{})
	for w.ends[0].una < 20*1448 {
		if !w.loop.Step() {
			t.Fatal("stalled")
		}
	}
}
