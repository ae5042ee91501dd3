package rdma

import (
	"math/rand/v2"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestRelease: an endpoint is of no more effect once released, wherever its flow
// stands, and can be used again at once.
func TestRelease(t *testing.T) {
	for name, until := range map[string]time.Duration{"in line": 0, "waiting for its rate": 150 * us, "done": 50 * time.Millisecond} {
		l := newLab(t, red(star(3, 10*units.Gbps), 1))
		for range 2 {
			conns := []int{l.connect(0, 2), l.connect(0, 2), l.connect(1, 2)}
			for _, c := range conns {
				l.pairs[c].ends[0].Write(l.Now(), 1_000_000, 0)
			}
			l.RunUntil(l.Now() + until)
			for _, c := range conns {
				l.pairs[c].ends[0].Release()
				l.pairs[c].ends[1].Release()
			}
			got := l.pairs[conns[0]].users[1].delivered
			l.RunUntil(l.Now() + time.Millisecond) // stragglers come to released endpoints
			if at, pending := l.Next(); pending || l.pool.Taken() != 0 || l.pairs[conns[0]].users[1].delivered != got {
				t.Errorf("%s: %d packets held, next event at %v: %v", name, l.pool.Taken(), at, pending)
			}
		}
		made := 0
		for e := l.Stack.free; e != nil; e = e.after {
			made++
		}
		if made != 6 {
			t.Errorf("%s: %d endpoints were made, want 6", name, made)
		}
	}
}

// TestForeignPackets: a straggler of the connection that an endpoint was used for
// before does nothing, and goes back to the pool.
func TestForeignPackets(t *testing.T) {
	b := newBench(t, config(2))
	b.flow(1).Release()
	e := b.flow(2)
	for _, flags := range []packet.Flags{packet.REQ, packet.ACK, packet.ACK | packet.NAK, packet.CNP} {
		k := b.pool.Get()
		k.ECN, k.Segment = packet.CE, packet.Segment{Conn: 1, Len: 100, Ack: 100, Flags: flags}
		e.Receive(0, k)
	}
	if log := b.run(time.Second); len(log) != 0 || *e.user.(*tally) != (tally{}) || b.Counters(0) != (Counters{}) || b.pool.Taken() != 0 {
		t.Errorf("%d packets sent, user told %+v, counted %+v, %d packets held", len(log), e.user, b.Counters(0), b.pool.Taken())
	}
}

// TestLateAnswer: a sender that is about to send again because of a gap hears that
// all has come. It sends nothing, and goes on with the next message.
func TestLateAnswer(t *testing.T) {
	b := newBench(t, config(2))
	e := b.flow(1)
	e.Write(0, 3*1456, 0)
	b.run(10 * us)
	b.Pause(b.Now(), 0, true)
	b.hand(e, packet.NotECT, packet.Segment{Ack: 1456, Flags: packet.ACK | packet.NAK})
	b.hand(e, packet.NotECT, packet.Segment{Ack: 3 * 1456, Flags: packet.ACK})
	b.Pause(b.Now(), 0, false)
	if log := b.run(time.Second); len(log) != 0 || e.user.(*tally).acked != 1 {
		t.Errorf("%d packets sent again, told %d times", len(log), e.user.(*tally).acked)
	}
	e.Write(b.Now(), 100, 0)
	if log := b.run(b.Now() + us); len(log) != 1 || log[0].Segment.Seq != 3*1456 {
		t.Errorf("sent %+v, want the next byte", log)
	}
}

// TestSlowRepeat: at the least rate, 10 Mbps, it takes 1.2304 ms to send one of 16
// packets again, longer than the timer. The timer runs from the last, which asks
// for an acknowledgement.
func TestSlowRepeat(t *testing.T) {
	c := config(2)
	c.Timer = time.Hour
	b := newBench(t, c)
	e := b.flow(1)
	e.Write(0, 16*1456, 0)
	if log := b.run(30 * us); len(log) != 16 {
		t.Fatalf("%d packets, want 16", len(log))
	}
	for range 12 {
		b.hand(e, packet.NotECT, packet.Segment{Flags: packet.CNP})
	}
	b.hand(e, packet.NotECT, packet.Segment{Ack: 0, Flags: packet.ACK | packet.NAK})
	last := 30*us + 15*1230400
	log := b.run(last + time.Millisecond - us)
	for i, k := range log {
		if want := 30*us + time.Duration(i)*1230400; max(k.at-want, want-k.at) > 1 || k.Segment.Seq != int64(i*1456) {
			t.Errorf("byte %d sent again at %v, want byte %d at %v", k.Segment.Seq, k.at, i*1456, want)
		}
	}
	if n := b.Counters(0).Timeouts; n != 0 || len(log) != 16 {
		t.Errorf("%d packets sent again, %d timeouts", len(log), n)
	}
	b.run(last + time.Millisecond)
	if n := b.Counters(0).Timeouts; n != 1 {
		t.Errorf("%d timeouts, want 1", n)
	}
}

// TestGivesUp: a sender whose timer expires again and again goes back for as long as
// seven retries after a timeout of 67.1 ms last, and then says that it failed. What
// is acknowledged meanwhile starts that time anew.
func TestGivesUp(t *testing.T) {
	c := config(2)
	b := newBench(t, c)
	e := b.flow(1)
	e.Write(0, 2*1456, 0)
	b.run(5 * c.RTO)
	b.hand(e, packet.NotECT, packet.Segment{Ack: 1456, Flags: packet.ACK})
	progress := b.Now()
	b.run(2 * time.Second)
	user := e.user.(*tally)
	const most = 536870912 * time.Nanosecond // 8 times 4096 ns, 14 times doubled
	if after := user.failed - progress; after < most || after > most+2*c.RTO {
		t.Errorf("given up %v after the last progress, want %v", after, most)
	}
	if b.Counters(0).Timeouts < 8 {
		t.Errorf("given up after %d timeouts", b.Counters(0).Timeouts)
	}
	if log := b.run(user.failed + time.Second); len(log) != 0 {
		t.Errorf("%d packets are sent after that", len(log))
	}
	e.Release()
	if b.pool.Taken() != 0 {
		t.Errorf("%d packets held", b.pool.Taken())
	}
}

// TestNothingToIncrease: a link as slow as the least rate leaves the timer nothing
// to do.
func TestNothingToIncrease(t *testing.T) {
	c := config(2)
	c.Uplinks[0] = c.MinRate
	b := newBench(t, c)
	b.hand(b.flow(1), packet.NotECT, packet.Segment{Flags: packet.CNP})
	if at, pending := b.Next(); pending {
		t.Errorf("an event is due at %v", at)
	}
}

// TestStop: a sender that stops has, of what it wrote, sent at most one packet
// more. That comes and is acknowledged, whatever is lost.
func TestStop(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		l := newLab(t, star(2, 10*units.Gbps))
		loss := []float64{0, 0.1}[seed%2]
		l.lose = func(*packet.Packet) bool { return rng.Float64() < loss }
		l.connect(0, 1)
		e := l.pairs[0].ends[0]
		for range 1 + rng.IntN(3) {
			e.Write(0, 1+rng.Int64N(100_000), 0)
		}
		l.RunUntil(time.Duration(rng.IntN(200)) * us)
		sent, told := e.highest, l.pairs[0].users[0].acked
		e.Stop(l.Now())
		if e.next < e.written && (e.written < sent || e.written > sent+1456) {
			t.Errorf("seed %d: stopped at byte %d, will send up to %d", seed, sent, e.written)
		}
		l.RunUntil(l.Now() + time.Second)
		got := l.pairs[0].users
		if got[1].delivered != e.written || e.acked != e.written || got[0].acked == 0 || told > 0 && got[0].acked != told {
			t.Errorf("seed %d: of %d bytes %d were delivered, %d acknowledged, told %d times", seed, e.written, got[1].delivered, e.acked, got[0].acked)
		}
		if at, pending := l.Next(); pending || l.pool.Taken() != 0 || len(e.messages) != 0 {
			t.Errorf("seed %d: %d packets held, next event at %v: %v", seed, l.pool.Taken(), at, pending)
		}
	}
}
