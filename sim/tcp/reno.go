package tcp

import (
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// reno is RFC 5681.
type reno struct{}

var _ control = reno{}

func newReno(struct{}, struct{}) (Family, error) {
	return Family{make: func() control { return reno{} }}, nil
}

func (reno) markedShare() float64 { return -1 }
func (reno) open()                {}

func (reno) acked(w *window, a ack) {
	if a.grow {
		w.grow(a.bytes)
	}
}

func (reno) cut(w *window, e congestion) { w.halve(e) }

// ecnStar is Reno with ECN (RFC 3168): a mark halves the window, as a loss does,
// and a window of data that has marks and losses is answered once. The pause
// until a timer expires that section 6.1.2 suggests for marks at a window of one
// segment is left out, as in Linux and ns-2.
type ecnStar struct {
	reno
	least int64
}

var _ control = ecnStar{}

func newECNStar(p transport.ECNStar, _ struct{}) (Family, error) {
	c := ecnStar{least: int64(p.MinWindow)}
	f := Family{make: func() control { return c }, echo: echoUntilCWR, data: packet.ECT0, others: packet.NotECT, grows: p.GrowOnEcho}
	return f, nil
}

func (c ecnStar) cut(w *window, e congestion) {
	switch {
	case e.cause == marked:
		w.shrink(w.cwnd/2, c.least, marked)
	case !e.again:
		w.halve(e)
	}
}
