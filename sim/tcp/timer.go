package tcp

import "time"

// purpose is what the one alarm of a sender is set for. Whichever that is, it
// rings no later than the retransmission timer would (RFC 8985, section 8).
type purpose uint8

const (
	forTimeout    purpose = iota
	forProbe              // a tail loss probe is due
	forReordering         // what is late will be lost
)

// restart sets the retransmission timer anew, or stops it when all is
// acknowledged (RFC 6298, section 5).
func (e *Endpoint) restart(now time.Duration) {
	e.expires, e.purpose = now+e.rtt.rto, forTimeout
	if e.una == e.nxt {
		e.retransmit.stop()
	} else {
		e.retransmit.start(e.expires)
	}
}

// resume sets the retransmission timer to when it would have rung.
func (e *Endpoint) resume() {
	e.purpose = forTimeout
	e.retransmit.start(e.expires)
}

// arm sets the alarm to what RACK-TLP waits for, after something was sent or
// acknowledged.
func (e *Endpoint) arm(now time.Duration) {
	switch r := &e.rack; {
	case !e.stack.rack || e.una == e.nxt:
	case r.settled > 0 && r.settled < e.expires:
		e.purpose = forReordering
		e.retransmit.start(r.settled)
	case e.mayProbe():
		e.purpose = forProbe
		e.retransmit.start(min(now+e.probeTimeout(), e.expires))
	default:
		e.resume()
	}
}

// ring does what the alarm was set for.
func (e *Endpoint) ring(now time.Duration) {
	switch e.purpose {
	case forProbe:
		e.sendProbe(now)
	case forReordering:
		e.resume()
		e.detect(now, e.flight(), false)
		e.push(now)
		e.arm(now)
	default:
		e.timeout(now)
	}
}

// timeout is the retransmission timer (RFC 6298, section 5). What it says is
// lost is sent again from the first byte on in slow start; a fast recovery under
// way is over (RFC 6675, section 5.1). The threshold is set by the first timeout
// only (RFC 5681, section 3.1).
func (e *Endpoint) timeout(now time.Duration) {
	e.counters.Timeouts++
	e.again.timeouts++
	again := e.rtt.backoffs > 0
	e.rtt.backOff(&e.stack.config)
	if e.state != established {
		e.sendSYN(now)
		return
	}
	if !again {
		e.cut(congestion{cause: timedOut, flight: e.flight()})
	} else {
		e.reacted(timedOut)
	}
	e.win.collapse()
	e.reduction = reduction{}
	e.board.revive(e.una, e.nxt)
	if e.stack.rack {
		e.rack.expire(now)
		e.resend(now, e.rack.head)
	}
	e.push(now)
}
