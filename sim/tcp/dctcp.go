package tcp

import (
	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/transport"
)

// DCTCP is RFC 8257: marks cut the window by half of the share of bytes that
// were marked lately. A loss is answered as in Reno (section 3.5), even in a
// window of data that a mark has cut, since that cut may have been small; Linux
// does so too from 5.1 on. Before, it took for a loss what it takes for a mark,
// unless one had cut the window already ("tcp: Ensure DCTCP reacts to losses").
type DCTCP struct {
	G            float64 `lab:"g" doc:"weight of the newest window in the estimate of how much is marked, above 0 and at most 1"`
	InitialAlpha float64 `lab:"initial_alpha" doc:"the estimate before the first mark, 0 to 1: 1 in RFC 8257 and Linux, 0 in ns-2"`
	MinWindow    int     `lab:"min_window" doc:"segments below which no mark takes the window: 2 in Linux, 1 in ns-2"`
	OnLoss       string  `lab:"on_loss" doc:"what a loss takes of the window: half (RFC 8257) or alpha (what a mark takes)"`
}

// dctcp has its names from RFC 8257, section 3.3.
type dctcp struct {
	p                       DCTCP
	alpha                   float64
	windowEnd               int64
	bytesAcked, bytesMarked int64
}

var _ control = (*dctcp)(nil)

func newDCTCP(p DCTCP, _ struct{}) (Family, error) {
	switch {
	case p.G <= 0 || p.G > 1:
		return Family{}, kind.Invalid("g", "%v is outside (0, 1]", p.G)
	case p.InitialAlpha < 0 || p.InitialAlpha > 1:
		return Family{}, kind.Invalid("initial_alpha", "%v is outside [0, 1]", p.InitialAlpha)
	}
	if err := checkMinWindow(p.MinWindow); err != nil {
		return Family{}, err
	}
	return Family{make: func() control { return &dctcp{p: p} }, echo: echoExactly, data: packet.ECT0, others: packet.ECT0}, nil
}

func (c *dctcp) open() { *c = dctcp{p: c.p, alpha: c.p.InitialAlpha} }

// acked is steps 1 to 8 of RFC 8257, section 3.3, and growth as in Reno.
func (c *dctcp) acked(w *window, a ack) {
	c.bytesAcked += a.bytes
	if a.marked {
		c.bytesMarked += a.bytes
	}
	if a.una > c.windowEnd {
		share := float64(c.bytesMarked) / float64(c.bytesAcked)
		c.alpha = float64(c.alpha*(1-c.p.G)) + float64(c.p.G*share) // conversions: see estimator.sample
		c.windowEnd = a.nxt
		c.bytesAcked, c.bytesMarked = 0, 0
	}
	if a.grow {
		w.grow(a.bytes)
	}
}

func (c *dctcp) cut(w *window, e congestion) {
	switch {
	case e.cause != marked && c.p.OnLoss == transport.OnLossHalf:
		w.halve(e)
	case e.cause == marked || !e.again:
		w.shrink(w.cwnd-w.cut(float64(w.cwnd)*(c.alpha/2)), int64(c.p.MinWindow), e.cause)
	}
}
