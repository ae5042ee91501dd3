package tcp

import (
	"math"
	"testing"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// datacenter is a Prague without virtual round trips.
func datacenter() Config {
	c := config("prague")
	c.Control.Params = map[string]any{"virtual_rtt": "0s"}
	return c
}

// TestPragueIsECT1: everything that it sends is (RFC 9331, section 4.1), what is sent
// again included.
func TestPragueIsECT1(t *testing.T) {
	p := newPair(t, config("prague"), 50*us)
	n, lost := 0, false
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		if n++; k.ECN != packet.ECT1 {
			t.Errorf("packet %d: ECN %02b", n, k.ECN)
		}
		drop := k.Segment.Seq == 5*mss && !lost
		lost = lost || drop
		return fate{drop: drop}
	}
	p.open()
	p.ends[0].Write(0, 100*mss, Tag{})
	p.drain(t)
	if p.n[0].Retransmits == 0 {
		t.Error("nothing was sent again")
	}
}

// newPragueOf is a control with a window of that many segments in congestion avoidance.
func newPragueOf(p transport.Prague, segments int64) (*prague, *window) {
	c := &prague{p: p}
	c.open()
	w := newWindow(mss, segments)
	w.ssthresh = w.cwnd
	return c, &w
}

// TestPragueCut: the draft: marks cut the window by half of alpha, once in
// a round trip; a loss halves it, together with what marks took of it in that round trip.
func TestPragueCut(t *testing.T) {
	p := transport.DefaultPrague()
	for name, tt := range map[string]struct {
		alpha float64
		marks bool
		loss  bool
		want  int64
	}{
		"all marked":     {1, true, false, 10_000},
		"half marked":    {0.5, true, false, 15_000},
		"few marked":     {0.01, true, false, 19_900},
		"loss":           {0.5, false, true, 10_000},
		"mark and loss":  {0.5, true, true, 10_000},
		"marks and loss": {1, true, true, 10_000},
	} {
		c, w := newPragueOf(p, 20)
		c.alpha = tt.alpha
		s := sample{now: ms, srtt: ms, una: mss, nxt: 20 * mss, arrived: mss}
		if tt.marks {
			s.marks = 1
			c.steer(w, &s)
			s.una = 3 * mss
			c.steer(w, &s) // again, in the same round trip
		}
		if tt.loss {
			c.cut(w, congestion{cause: lost, una: 4 * mss})
		}
		if math.Abs(float64(w.cwnd-tt.want)) > 1 || w.ssthresh != w.cwnd {
			t.Errorf("%s: window %d, threshold %d, want %d", name, w.cwnd, w.ssthresh, tt.want)
		}
	}
}

// TestPragueGrowsWhileItIsCut: the draft: every acknowledgement grows the
// window by what it tells to have arrived unmarked, in the round trip after a cut, too.
func TestPragueGrowsWhileItIsCut(t *testing.T) {
	c, w := newPragueOf(transport.DefaultPrague(), 20)
	c.alpha = 0.5
	s := sample{now: ms, srtt: ms, una: mss, nxt: 20 * mss, arrived: mss, marks: 1, limited: true}
	c.steer(w, &s)
	if w.cwnd != 15_000 {
		t.Fatalf("window %d, want 15000", w.cwnd)
	}
	for n := int64(2); n <= 16; n++ { // 15 segments, of which a third is marked
		s.una, s.marks = n*mss, 0
		if n%3 == 0 {
			s.marks = 1
		}
		c.steer(w, &s)
	}
	if want := int64(15_667); math.Abs(float64(w.cwnd-want)) > 15 {
		t.Errorf("window %d, want %d: two thirds of a segment more", w.cwnd, want)
	}
}

// TestVirtualRTT: section 2.4.4 of the draft: with a virtual round trip of ten, a window
// grows by a hundredth of a segment in each, and is cut at most once in ten; but not
// before the transition.
func TestVirtualRTT(t *testing.T) {
	p := transport.DefaultPrague()
	p.VirtualRTT, p.Transition = 10*ms, 3
	c, w := newPragueOf(p, 10)
	s := sample{srtt: ms, arrived: 10 * mss, limited: true}
	round := func(marks int64) (grown int64) {
		before := w.cwnd
		s.now, s.marks = s.now+ms, marks
		s.una = s.nxt + 1
		s.nxt = s.una + 10*mss
		c.steer(w, &s)
		return w.cwnd - before
	}
	for range 3 {
		if got := round(0); got < 700 || got > mss {
			t.Errorf("before the transition: grown by %d, want a segment", got)
		}
	}
	sum := int64(0)
	for range 100 {
		sum += round(0)
	}
	if want := 100 * mss / 100 * 10_000 / 13_000; math.Abs(float64(sum)-float64(want)) > 50 {
		t.Errorf("in 100 round trips grown by %d, want %d", sum, want)
	}
	c.alpha = 0.1
	cuts := 0
	for range 100 {
		if round(1) < 0 {
			cuts++
		}
	}
	if cuts < 9 || cuts > 11 {
		t.Errorf("cut %d times in ten virtual round trips", cuts)
	}
}

// TestPragueAlpha: alpha converges to the share of marks, delayed ACKs or not.
func TestPragueAlpha(t *testing.T) {
	for _, each := range []int{1, 2, 8} {
		c := datacenter()
		c.DelayedAck, c.AckTimeout = each, ms
		c.Control.Params["min_window"] = 40 // so that cuts do not change the windows
		c.ReceiveWindow = 40 * mss
		p := newPair(t, c, 50*us).establish()
		n := 0
		p.rule = func(_ time.Duration, k *packet.Packet) fate {
			if k.Segment.Len == 0 {
				return fate{}
			}
			n++
			return fate{mark: n%4 == 0}
		}
		p.ends[0].Write(0, 1<<40, Tag{})
		p.loop.RunUntil(100 * ms)
		if got := p.ends[0].control.markedShare(); math.Abs(got-0.25) > 0.02 {
			t.Errorf("an ACK every %d: alpha %v, want 0.25", each, got)
		}
	}
}

// TestPragueHoldsTheStep: one flow behind a queue that marks above a step keeps the link
// busy and the queue at the step. Paced data needs a shorter step than DCTCP's 0.17 of
// the bandwidth-delay product, 14 packets here (L4S: half a millisecond at any RTT).
func TestPragueHoldsTheStep(t *testing.T) {
	b := newBottleneck(t, datacenter(), 1)
	b.marks = 14
	b.loop.RunUntil(50 * ms)
	before, longest := b.delivered()[0], 0
	for now := 50 * ms; now <= 150*ms; now += 10 * us {
		b.loop.RunUntil(now)
		longest = max(longest, b.queue.Len())
	}
	share := (b.delivered()[0] - before) / (float64(bottleneckRate.Bytes(100*ms)) * 1448 / 1500)
	if share < 0.97 || longest > 2*b.marks || b.drops > 0 {
		t.Errorf("%.3f of what fits, a queue of %d packets at most, %d drops", share, longest, b.drops)
	}
}
