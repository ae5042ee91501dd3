package tcp

import (
	"math"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// newBBR3Flow is one flow without end on the narrow link.
func newBBR3Flow(t *testing.T) (*narrow, *bbr3) {
	t.Helper()
	b := newNarrow(t, config("bbr3"), 1)
	b.senders[0].Write(0, 1<<40, Tag{})
	return b, b.senders[0].control.(*bbr3)
}

// until runs until the flow is in a state, and tells when.
func (b *narrow) until(t *testing.T, c *bbr3, state bbr3State) time.Duration {
	t.Helper()
	for end := b.loop.Now() + 30*time.Second; c.state != state; b.loop.Step() {
		if b.loop.Now() > end {
			t.Fatalf("not in state %d within 30 s, but in %d", state, c.state)
		}
	}
	return b.loop.Now()
}

// TestBBR3Startup: the draft's test "Exiting STARTUP on Bandwidth Plateau": the rate is
// known within 2 %, the third round trip with less than a quarter more ends startup, and
// the queue is drained then.
func TestBBR3Startup(t *testing.T) {
	b, c := newBBR3Flow(t)
	at := b.until(t, c, bbr3Drain)
	if rate := c.path.highest() * 8 * 1500 / 1448; math.Abs(rate/float64(narrowRate)-1) > 0.02 || !c.full || c.fullCount != 3 {
		t.Errorf("startup ended at %v with %.0f bit/s, full %v, after %d round trips", at, rate, c.full, c.fullCount)
	}
	if gain, _ := c.state.gains(); gain != 0.5 {
		t.Errorf("drains at a gain of %v", gain)
	}
	b.until(t, c, bbr3Down)
	if pipe := b.senders[0].rack.pipe; pipe > c.inflight(&b.senders[0].win, 1) && c.path.round <= c.drainFrom+3 {
		t.Errorf("drained with %d bytes under way", pipe)
	}
}

// TestBBR3Cycle: the states follow each other, with the draft's gains, and a probe comes
// after two to three seconds at most.
func TestBBR3Cycle(t *testing.T) {
	b, c := newBBR3Flow(t)
	b.until(t, c, bbr3Down)
	for range 5 {
		down := b.loop.Now()
		cruise := b.until(t, c, bbr3Cruise)
		refill := b.until(t, c, bbr3Refill)
		up := b.until(t, c, bbr3Up)
		b.until(t, c, bbr3Down)
		if cruise < down || refill > down+3*time.Second+narrowRTT || up-refill > 2*narrowRTT {
			t.Errorf("down at %v, cruises at %v, refills at %v, goes up at %v", down, cruise, refill, up)
		}
	}
	for state, want := range map[bbr3State][2]float64{
		bbr3Startup: {2.77, 2}, bbr3Down: {0.9, 2}, bbr3Cruise: {1, 2}, bbr3Refill: {1, 2}, bbr3Up: {1.25, 2.25}, bbr3ProbeRTT: {1, 0.5},
	} {
		if rate, window := state.gains(); rate != want[0] || window != want[1] {
			t.Errorf("state %d: gains %v, %v, want %v", state, rate, window, want)
		}
	}
}

// TestBBR3KeepsTheQueueShort: the link is 95 % busy. The queue is within the gain of the
// window of a probe, 2.25 bandwidth-delay products in all, and while cruising below a
// tenth of one.
func TestBBR3KeepsTheQueueShort(t *testing.T) {
	b, c := newBBR3Flow(t)
	b.loop.RunUntil(time.Second)
	if s := b.over(30 * time.Second)[0]; s < 0.95 || b.longest > narrowRTT*5/4+ms {
		t.Errorf("%.3f of the link, a queue of up to %v", s, b.longest)
	}
	b.until(t, c, bbr3Cruise)
	b.loop.RunUntil(b.loop.Now() + 2*narrowRTT)
	if wait := b.busy - b.loop.Now(); c.state == bbr3Cruise && wait > narrowRTT/10 {
		t.Errorf("cruises with a queue of %v", wait)
	}
}

// TestBBR3ProbeRTT: ten seconds after a round trip as short was seen, half of the
// bandwidth-delay product is under way for 200 ms, and then the flow cruises.
func TestBBR3ProbeRTT(t *testing.T) {
	b := newNarrow(t, config("bbr3"), 2) // which keep a queue
	for _, e := range b.senders {
		e.Write(0, 1<<40, Tag{})
	}
	c := b.senders[0].control.(*bbr3)
	var times []time.Duration
	for b.loop.Now() < 28*time.Second {
		times = append(times, b.until(t, c, bbr3ProbeRTT))
		if want := c.path.bandwidth() * narrowRTT.Seconds() / 2; math.Abs(float64(c.probeWindow)/want-1) > 0.3 {
			t.Errorf("a window of %d bytes, want about %.0f", c.probeWindow, want)
		}
		end := b.until(t, c, bbr3Cruise)
		if last := end - times[len(times)-1]; last < 200*ms || last > 300*ms {
			t.Errorf("probed for %v", last)
		}
	}
	for i := 1; i < len(times); i++ {
		if gap := times[i] - times[i-1]; gap < 10*time.Second || gap > 14*time.Second {
			t.Errorf("probed at %v", times)
		}
	}
}

// TestBBR3Shares: two flows, one of which began ten seconds earlier, come to share the
// link.
func TestBBR3Shares(t *testing.T) {
	b := newNarrow(t, config("bbr3"), 2)
	b.senders[0].Write(0, 1<<40, Tag{})
	b.loop.RunUntil(10 * time.Second)
	b.senders[1].Write(b.loop.Now(), 1<<40, Tag{})
	b.loop.RunUntil(40 * time.Second)
	s := b.over(80 * time.Second)
	if ratio := s[0] / s[1]; s[0]+s[1] < 0.9 || ratio < 0.5 || ratio > 2 {
		t.Errorf("shares %.3f", s)
	}
}

// TestBBR3BearsLosses: losses below 2 % hardly slow it down; far more than 2 % do.
func TestBBR3BearsLosses(t *testing.T) {
	for every, want := range map[int][2]float64{100: {0.8, 1}, 10: {0, 0.6}} {
		b, _ := newBBR3Flow(t)
		n := 0
		b.drop = func(k *packet.Packet) bool { n++; return k.Segment.Len > 0 && n%every == 0 }
		b.loop.RunUntil(2 * time.Second)
		if s := b.over(12 * time.Second)[0]; s < want[0] || s > want[1] {
			t.Errorf("a loss in %d: %.3f of the link", every, s)
		}
	}
}

// TestBBR3ShallowBuffer: where the queue holds a fifth of the bandwidth-delay product,
// losses tell how much may be under way, room is left below that, and few packets are
// lost.
func TestBBR3ShallowBuffer(t *testing.T) {
	b, c := newBBR3Flow(t)
	sent, lost := 0, 0
	b.drop = func(k *packet.Packet) bool {
		sent++
		full := b.busy-b.loop.Now() > narrowRTT/5
		if full {
			lost++
		}
		return full
	}
	b.loop.RunUntil(2 * time.Second)
	sent, lost = 0, 0
	s := b.over(32 * time.Second)[0]
	if share := float64(lost) / float64(sent); s < 0.8 || share > 0.02 {
		t.Errorf("%.3f of the link, %.4f lost", s, share)
	}
	if c.path.long > 2*product || c.path.long < product/2 {
		t.Errorf("takes %d bytes for what the path bears, whose product is %d", c.path.long, product)
	}
	b.until(t, c, bbr3Cruise)
	b.loop.RunUntil(b.loop.Now() + ms)
	if w := &b.senders[0].win; c.state == bbr3Cruise && w.cwnd > c.path.long*85/100+1448 {
		t.Errorf("cruises with a window of %d of %d", w.cwnd, c.path.long)
	}
}

// TestBBR3LowerBounds: a round trip with losses, while not probing, leaves 0.7 of rate and
// volume, or what was delivered in it if that is more.
func TestBBR3LowerBounds(t *testing.T) {
	for delivered, want := range map[float64]float64{0.5: 0.7, 0.9: 0.9} {
		p := newBBRPath()
		w := newWindow(mss, 100)
		p.rates[1] = 1e6
		p.rate, p.volume = delivered*1e6, int64(delivered*100*mss)
		p.lower(&w)
		if math.Abs(p.shortRate-want*1e6) > 1 || math.Abs(float64(p.short)-want*100*mss) > 1 {
			t.Errorf("with %v delivered: rate %v, volume %d, want %v of both", delivered, p.shortRate, p.short, want)
		}
		if p.resetShort(); p.bandwidth() != 1e6 {
			t.Errorf("after the probe %v", p.bandwidth())
		}
	}
}
