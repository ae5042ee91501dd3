package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// takeAck takes the acknowledgement of a segment, and sends what it allows.
func (e *Endpoint) takeAck(now time.Duration, k *packet.Packet) {
	s := &k.Segment
	if k.ECE {
		e.counters.ECEReceived++
	}
	if s.Ack < e.una { // overtaken by a later one
		return
	}
	sacked := s.Blocks > 0 && e.board.sack(s, s.Ack, e.stack.mss)
	acked := s.Ack > e.una
	loss := false
	switch {
	case acked:
		e.advance(now, k)
	case sacked:
		loss = e.board.duplicate(e.una, e.nxt)
	}
	if loss {
		e.fastRetransmit(now)
	}
	if e.marked(k) && e.una > e.echo.cut {
		e.cut(congestion{cause: marked})
	}
	if acked || sacked {
		e.push(now)
	}
	if acked && e.una == e.stream.end {
		e.user.Acked(now)
	}
}

// marked tells whether a segment echoes a mark to an end that understands.
func (e *Endpoint) marked(k *packet.Packet) bool {
	return k.ECE && e.stack.family.echo != echoNever
}

// advance takes an acknowledgement of new data. One with an ECN echo does not
// let the window grow (RFC 3168, section 6.1.2), nor does one in fast recovery.
func (e *Endpoint) advance(now time.Duration, k *packet.Packet) {
	s, config := &k.Segment, &e.stack.config
	limited := e.una < e.limit.full
	e.rtt.sample(config, now-s.Echo, e.samples())
	a := ack{
		now:    e.limit.clock(now, limited),
		rtt:    time.Duration(e.rtt.srtt),
		bytes:  s.Ack - e.una,
		una:    s.Ack,
		nxt:    e.nxt,
		marked: e.marked(k),
	}
	a.grow = limited && !a.marked && e.board.phase != recovering
	e.una = s.Ack
	e.stream.trim(e.una)
	over := e.board.acked(e.una)
	e.control.acked(&e.win, a)
	if over {
		e.win.repaired()
	}
	if e.una == e.nxt {
		e.retransmit.stop()
	} else {
		e.retransmit.start(now + e.rtt.rto)
	}
}

// samples is how many round-trip samples a window gives (RFC 7323, appendix G,
// which takes two segments an ACK).
func (e *Endpoint) samples() int64 {
	each := e.stack.mss * int64(e.stack.config.DelayedAck)
	if flight := e.nxt - e.una; flight > each {
		return (flight + each - 1) / each
	}
	return 1
}

// cut answers a congestion event.
func (e *Endpoint) cut(c congestion) {
	c.again = e.echo.marked && e.una <= e.echo.cut
	e.control.cut(&e.win, c)
	e.reacted(c.cause)
}

// reacted notes that the window was cut for what has been sent so far.
func (e *Endpoint) reacted(c cause) {
	e.echo = reaction{cut: e.nxt, marked: c == marked, cwr: e.stack.family.echo != echoNever}
}
