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
	var was standing
	if e.steer != nil {
		was = e.standing()
	}
	acked, flight := s.Ack > e.una, e.flight()
	sacked := s.Blocks > 0 && e.takeBlocks(now, s)
	if acked {
		e.advance(now, k)
	}
	if e.steer != nil {
		was.rtt = e.newest(now, s, acked)
	}
	switch {
	case e.stack.rack:
		e.probed(k, acked)
		if acked || sacked {
			e.detect(now, flight, acked)
		}
	case sacked && !acked && e.board.duplicate(e.una, e.nxt):
		e.fastRetransmit(now)
	}
	if e.marked(k) && e.una > e.echo.cut {
		e.answerMark()
	}
	if e.stack.rack {
		e.reduce(acked)
	}
	if e.steer != nil {
		e.tell(now, k, was)
	}
	if acked || sacked {
		e.push(now)
		e.arm(now)
	}
	if acked && e.una == e.stream.end {
		e.user.Acked(now)
	}
}

// marked tells whether a segment echoes a mark to an end that understands.
func (e *Endpoint) marked(k *packet.Packet) bool {
	return k.ECE && e.stack.family.echo.flagged()
}

// advance takes an acknowledgement of new data. The window does not grow in fast
// recovery, nor for an acknowledgement with an ECN echo (RFC 3168, section 6.1.2).
// Some congestion controls let it grow when the acknowledgement before had an echo,
// too.
func (e *Endpoint) advance(now time.Duration, k *packet.Packet) {
	s, config := &k.Segment, &e.stack.config
	limited := e.una < e.limit.full
	e.rtt.sample(config, now-s.Echo, e.samples())
	a := ack{
		now:    e.limit.clock(now, limited),
		at:     now,
		rtt:    time.Duration(e.rtt.srtt),
		sample: now - s.Echo,
		bytes:  s.Ack - e.una,
		una:    s.Ack,
		nxt:    e.nxt,
		marked: e.marked(k),
	}
	held := e.held()
	echo := a.marked && !(e.echoed && e.stack.family.grows)
	e.echoed = a.marked
	a.grow = limited && !echo && e.board.phase != recovering && !(held && a.una <= e.echo.cut)
	if e.stack.rack {
		e.rack.acked(now, s.Ack, s.Echo)
	}
	e.una = s.Ack
	e.stream.trim(e.una)
	over := e.board.acked(e.una)
	if held && e.una > e.echo.cut {
		e.reduction.end(&e.win)
	}
	e.control.acked(&e.win, a)
	if over {
		e.win.repaired()
		e.reduction.end(&e.win)
	}
	e.restart(now)
}

// takeBlocks takes the SACK blocks of a segment and tells whether they say
// anything new.
func (e *Endpoint) takeBlocks(now time.Duration, s *packet.Segment) bool {
	if e.stack.rack {
		return e.rack.blocks(now, s, &e.board.sacked)
	}
	return e.board.sack(s, s.Ack, e.stack.mss)
}

// samples is how many round-trip samples a window gives (RFC 7323, appendix G, for
// two segments an ACK).
func (e *Endpoint) samples() int64 {
	each := e.stack.mss * int64(e.stack.config.DelayedAck)
	if flight := e.nxt - e.una; flight > each {
		return (flight + each - 1) / each
	}
	return 1
}
