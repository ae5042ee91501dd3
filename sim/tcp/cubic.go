package tcp

import (
	"math"
	"time"
)

// Cubic is RFC 9438. Slow start is Reno's, or as Linux's ends with [hystart]. HyStart++,
// which the RFC suggests beside it (section 4.10), is another specification.
type Cubic struct {
	Beta            float64 `lab:"beta" range:"(0, 1)" doc:"share of the window that a loss leaves"`
	C               float64 `lab:"c" range:"(0, 1000000]" doc:"steepness of the growth in segments per second cubed"`
	FastConvergence bool    `lab:"fast_convergence" doc:"give up bandwidth to new flows faster (section 4.7)"`
	HyStart         bool    `lab:"hystart" doc:"end slow start by the times of acknowledgements, as Linux does"`
}

// cubic has its names from RFC 9438, section 4.1. Windows are in segments.
type cubic struct {
	p         Cubic
	wMax      float64
	k         float64 // seconds until the cubic function is at wMax
	cwndPrior float64
	wEst      float64       // what Reno would have
	epoch     time.Duration // when the congestion avoidance under way began
	avoiding  bool          // epoch, k and wEst count
	rest      float64       // fraction of a byte by which the window has yet to grow
	start     hystart
	found     bool // slow start was ended by it, and no timeout came since
}

var _ control = (*cubic)(nil)

func newCubic(p Cubic, _ struct{}) (Family, error) {
	return Family{make: func() control { return &cubic{p: p} }}, nil
}

func (c *cubic) markedShare() float64 { return -1 }

func (c *cubic) open() { *c = cubic{p: c.p} }

func (c *cubic) acked(w *window, a ack) {
	if c.p.HyStart && !c.found && w.slow() && c.start.ends(w, a) {
		c.found = true
		w.ssthresh = w.cwnd
	}
	switch {
	case !a.grow:
		return
	case w.slow():
		w.grow(a.bytes)
		return
	}
	cwnd := float64(w.cwnd) / float64(w.mss)
	if !c.avoiding {
		c.begin(a.now, cwnd)
	}
	segments := float64(a.bytes) / float64(w.mss)
	grown := c.rest + float64(c.growth(a, cwnd, segments)*float64(w.mss))
	w.cwnd += int64(grown)
	c.rest = grown - math.Trunc(grown)
}

// begin starts an epoch of congestion avoidance. Where no loss has told of a
// larger window, the function starts at its inflection (sections 4.8 and 4.10).
func (c *cubic) begin(now time.Duration, cwnd float64) {
	c.avoiding, c.epoch, c.wEst, c.rest = true, now, cwnd, 0
	c.wMax = max(c.wMax, cwnd)
	c.k = math.Cbrt((c.wMax - cwnd) / c.p.C) // equation 2
}

// at is the cubic function some time into the epoch (equation 1).
func (c *cubic) at(t time.Duration) float64 {
	d := t.Seconds() - c.k
	return float64(c.p.C*d*d*d) + c.wMax
}

// growth is by how many segments an ACK of that many raises the window: as
// Reno's would be while that is above the function (section 4.3), else towards
// where the function is a round trip later (sections 4.4 and 4.5).
func (c *cubic) growth(a ack, cwnd, segments float64) float64 {
	alpha := 1.0
	if c.wEst < c.cwndPrior {
		alpha = 3 * (1 - c.p.Beta) / (1 + c.p.Beta)
	}
	c.wEst += float64(alpha * segments / cwnd) // equation 4
	t := a.now - c.epoch
	if c.at(t) < c.wEst {
		return max(0, c.wEst-cwnd)
	}
	target := min(max(c.at(t+a.rtt), cwnd), 1.5*cwnd)
	return (target - cwnd) / cwnd * segments
}

// cut is the multiplicative decrease (section 4.6) with fast convergence
// (section 4.7). A timeout forgets the window before it (section 4.8).
func (c *cubic) cut(w *window, e congestion) {
	cwnd := float64(w.cwnd) / float64(w.mss)
	last := c.wMax
	c.wMax, c.cwndPrior, c.avoiding = cwnd, cwnd, false
	switch {
	case e.cause == timedOut:
		c.wMax, c.found, c.start = 0, false, hystart{}
	case cwnd < last && c.p.FastConvergence:
		c.wMax = cwnd * (1 + c.p.Beta) / 2
	}
	w.shrink(int64(float64(e.flight)*c.p.Beta), 2, e.cause)
}
