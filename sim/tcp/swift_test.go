package tcp

import (
	"math"
	"testing"
	"time"

	"aqmlab/trafficgen/transport"
)

func newSwiftOf(p transport.Swift, cwnd float64) (*swift, *window) {
	c := &swift{p: p}
	c.open()
	w := newWindow(mss, 10)
	c.begin(&w)
	c.cwnd = cwnd
	return c, &w
}

// TestSwiftTarget: section 3.5 of the paper: the base target from fs_max_cwnd on, fs_range
// more up to fs_min_cwnd, and in between the inverse square root of the window.
func TestSwiftTarget(t *testing.T) {
	p := transport.DefaultSwift()
	p.BaseTarget, p.FSRange, p.FSMinCwnd, p.FSMaxCwnd = 50*us, 300*us, 0.25, 100
	for cwnd, want := range map[float64]time.Duration{
		1000: 50 * us, 100: 50 * us, 0.25: 350 * us, 0.01: 350 * us,
		1: 50*us + 300*us*9/19, // (1 - 1/10) / (2 - 1/10)
		4: 50*us + 300*us*4/19,
	} {
		c, _ := newSwiftOf(p, cwnd)
		if got := c.target(); got < want-1 || got > want+1 {
			t.Errorf("window of %v: target %v, want %v", cwnd, got, want)
		}
	}
	c, _ := newSwiftOf(transport.DefaultSwift(), 100)
	c.shortest = 100 * us
	if got := c.target(); got != 125*us {
		t.Errorf("with the shortest RTT of 100us: %v, want a quarter more", got)
	}
}

// TestSwiftSteps: algorithm 1: ai a round trip below the target, of windows below a
// segment ai for each that is acknowledged; above it beta times how far the delay is
// above, max_mdf at most, once a round trip.
func TestSwiftSteps(t *testing.T) {
	p := transport.DefaultSwift()
	p.BaseTarget, p.FSMaxCwnd = 100*us, 0.2 // no scaling for the windows here
	p.FSMinCwnd = 0.1
	for name, tt := range map[string]struct {
		cwnd  float64
		rtt   time.Duration
		acked int64
		want  float64
	}{
		"grows":            {10, 99 * us, 2, 10.2},
		"grows from less":  {0.5, 99 * us, 1, 1.5},
		"a little too far": {10, 125 * us, 1, 10 * (1 - 0.8*0.2)},
		"far too far":      {10, ms, 1, 5},
		"fractions shrink": {0.5, 200 * us, 1, 0.5 * 0.6},
	} {
		c, w := newSwiftOf(p, tt.cwnd)
		s := sample{now: ms, rtt: tt.rtt, srtt: 100 * us, arrived: tt.acked * mss, limited: true}
		c.steer(w, &s)
		if math.Abs(c.cwnd-tt.want) > 1e-9 || w.cwnd != max(int64(c.cwnd*mss), mss) {
			t.Errorf("%s: %v segments, %d bytes, want %v segments", name, c.cwnd, w.cwnd, tt.want)
		}
		if c.cwnd >= tt.cwnd {
			continue
		}
		if s.now += 99 * us; c.cwnd < 1 && math.Abs(w.rate-c.cwnd*mss/100e-6) > 1 {
			t.Errorf("%s: paced at %v bytes a second", name, w.rate)
		}
		if c.steer(w, &s); math.Abs(c.cwnd-tt.want) > 1e-9 {
			t.Errorf("%s: shrank twice in a round trip, to %v", name, c.cwnd)
		}
		s.now += us
		if c.steer(w, &s); c.cwnd >= tt.want {
			t.Errorf("%s: did not shrink a round trip later", name)
		}
	}
}

// TestSwiftLosses: a loss takes max_mdf, and as many timeouts in a row as retx_reset
// leave the smallest window.
func TestSwiftLosses(t *testing.T) {
	c, w := newSwiftOf(transport.DefaultSwift(), 10)
	c.now = ms
	if c.cut(w, congestion{cause: lost}); c.cwnd != 5 {
		t.Errorf("after a loss %v segments, want 5", c.cwnd)
	}
	if c.cut(w, congestion{cause: timedOut, timeouts: 4}); c.cwnd != 2.5 {
		t.Errorf("after a timeout %v, want 2.5", c.cwnd)
	}
	if c.cut(w, congestion{cause: timedOut, timeouts: 5}); c.cwnd != 0.001 {
		t.Errorf("after the fifth timeout %v, want the smallest window", c.cwnd)
	}
}

// TestSwiftHoldsTheTarget: one flow fills the link, and its delay is what it aims at.
func TestSwiftHoldsTheTarget(t *testing.T) {
	b := newBottleneck(t, config("swift"), 1) // which measures the base RTT itself
	b.loop.RunUntil(50 * ms)
	before, sum, n := b.delivered()[0], time.Duration(0), time.Duration(0)
	c := b.senders[0].control.(*swift)
	for now := 50 * ms; now < 150*ms; now += 50 * us {
		b.loop.RunUntil(now)
		sum += time.Duration(b.senders[0].rtt.srtt)
		n++
	}
	share := (b.delivered()[0] - before) / (float64(bottleneckRate.Bytes(100*ms)) * 1448 / 1500)
	if mean := sum / n; share < 0.97 || mean < c.target()*9/10 || mean > c.target()*11/10 || b.drops > 0 {
		t.Errorf("%.3f of what fits, a delay of %v with a target of %v, %d drops", share, mean, c.target(), b.drops)
	}
}

// TestSwiftManyFlows: with windows below a segment, hundreds of flows share a link whose
// queue holds less than a packet of each, and lose nothing, once they know that they are
// many.
func TestSwiftManyFlows(t *testing.T) {
	const flows = 500
	config := config("swift")
	config.BaseRTT = bottleneckRTT
	b := newBottleneck(t, config, flows)
	b.loop.RunUntil(300 * ms)
	before, drops := b.delivered(), b.drops
	b.loop.RunUntil(500 * ms)
	sum, squares := 0.0, 0.0
	for i, bytes := range b.delivered() {
		bytes -= before[i]
		sum += bytes
		squares += bytes * bytes
	}
	share := sum / (float64(bottleneckRate.Bytes(200*ms)) * 1448 / 1500)
	if jain := sum * sum / squares / flows; b.drops > drops || share < 0.95 || jain < 0.5 {
		t.Errorf("%d drops, %.3f of what fits, Jain's index %.3f", b.drops-drops, share, jain)
	}
}
