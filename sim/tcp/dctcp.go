package tcp

import (
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// dctcp is RFC 8257, with names of its section 3.3: marks cut the window by half of
// the share of bytes that were marked lately. A loss is answered as in Reno (section
// 3.5), even in a window of data that a mark has cut, since that cut may have been
// small; Linux does so too from 5.1 on. Before, it took for a loss what it takes for a
// mark, unless one had cut the window already ("tcp: Ensure DCTCP reacts to losses").
type dctcp struct {
	p                       transport.DCTCP
	alpha                   float64
	windowEnd               int64
	bytesAcked, bytesMarked int64
}

var _ control = (*dctcp)(nil)

func newDCTCP(p transport.DCTCP, _ struct{}) (Family, error) {
	f := Family{make: func() control { return &dctcp{p: p} }, echo: echoExactly, data: packet.ECT0, others: packet.ECT0, grows: p.GrowOnEcho}
	return f, nil
}

func (c *dctcp) markedShare() float64 { return c.alpha }

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
