package tcp

import (
	"math"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/transport"
)

// swift keeps the delay of a flow at a target (Kumar et al., SIGCOMM 2020, algorithm 1).
// The window grows by ai segments a round trip while the delay is below the target. Above
// it, the window shrinks by how far the delay is above, at most once a round trip. The
// target is longer for small windows (flow scaling, section 3.5), so that many flows may
// share a queue. A window below one segment is paced: one segment leaves in several round
// trips.
//
// The delay is that of the fabric: modelled hosts take no time, and receivers acknowledge
// every segment at once. Its scaling by the number of hops, and the second window for the
// delay of hosts, are left out. The window is a real number of segments; what of it is not
// a whole segment waits for the next one.
type swift struct {
	steered
	p        transport.Swift
	cwnd     float64       // segments
	shortest time.Duration // round trip so far, no longer than the longest base RTT; zero: none
	cutAt    time.Duration // when the window was last cut
	srtt     time.Duration
	now      time.Duration // of the last sample
}

var _ steering = (*swift)(nil)

func newSwift(p transport.Swift, _ struct{}) (Family, error) {
	if p.FSMaxCwnd <= p.FSMinCwnd {
		return Family{}, kind.Invalid("fs_max_cwnd", "%v: want above fs_min_cwnd, %v", p.FSMaxCwnd, p.FSMinCwnd)
	}
	return Family{make: func() control { return &swift{p: p} }, prompt: true}, nil
}

func (c *swift) markedShare() float64 { return -1 }

func (c *swift) open() { *c = swift{p: c.p} }

func (c *swift) begin(w *window) {
	c.cwnd = float64(w.cwnd) / float64(w.mss)
	w.burst = w.mss // no super-packets
}

func (c *swift) steer(w *window, s *sample) {
	c.now, c.srtt = s.now, s.srtt
	if s.rtt < 0 {
		return
	}
	switch {
	case c.shortest == 0 && s.base > 0:
		c.shortest = min(s.rtt, s.base)
	case c.shortest == 0 || s.rtt < c.shortest:
		c.shortest = s.rtt
	}
	target := c.target()
	switch segments := float64(s.arrived) / float64(w.mss); {
	case s.rtt >= target:
		beyond := float64(s.rtt-target) / float64(s.rtt)
		c.decrease(max(1-float64(c.p.Beta*beyond), 1-c.p.MaxMDF))
	case s.limited && !s.recovering:
		c.cwnd += c.p.AI * segments / max(c.cwnd, 1)
	}
	c.set(w)
}

// target is the delay to aim at (section 3.5, without the number of hops).
func (c *swift) target() time.Duration {
	base := c.p.BaseTarget
	if base == 0 {
		base = time.Duration(float64(c.shortest) * (1 + c.p.Headroom))
	}
	span := c.p.FSRange
	if span == 0 {
		span = base
	}
	least := 1 / math.Sqrt(c.p.FSMaxCwnd)
	alpha := float64(span) / (1/math.Sqrt(c.p.FSMinCwnd) - least)
	more := alpha * (1/math.Sqrt(c.cwnd) - least)
	return base + time.Duration(min(max(more, 0), float64(span)))
}

// decrease leaves a share of the window, unless it was cut less than a round trip ago.
func (c *swift) decrease(left float64) {
	if c.now-c.cutAt >= c.srtt {
		c.cwnd *= left
		c.cutAt = c.now
	}
}

// set has the window be what the control wants. One of less than a segment lets one go,
// at a rate that is a window a round trip.
func (c *swift) set(w *window) {
	c.cwnd = min(max(c.cwnd, c.p.MinCwnd), c.p.MaxCwnd)
	bytes := c.cwnd * float64(w.mss)
	w.cwnd, w.rate = max(int64(bytes), w.mss), 0
	if c.cwnd < 1 && c.srtt > 0 {
		w.rate = bytes / c.srtt.Seconds()
	}
	w.ssthresh = w.cwnd
}

// cut answers losses: as much as the largest cut for delay, also at most once a round
// trip; after many timeouts in a row the smallest window is left.
func (c *swift) cut(w *window, e congestion) {
	switch {
	case e.timeouts >= c.p.RetxReset:
		c.cwnd = c.p.MinCwnd
	case e.cause == timedOut: // which takes longer than a round trip
		c.cwnd *= 1 - c.p.MaxMDF
	default:
		c.decrease(1 - c.p.MaxMDF)
	}
	c.set(w)
}
