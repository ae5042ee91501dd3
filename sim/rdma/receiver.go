package rdma

import (
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// receiver is the receiving half of an endpoint.
type receiver struct {
	expected int64 // next byte
	refused  bool  // the gap at expected has been reported
	dscp     uint8 // of the last data

	quiet *event.Timer // pending while no notification may be sent
	again bool         // marked data came meanwhile
}

// reset forgets the last connection. Its timer is not pending.
func (r *receiver) reset() { *r = receiver{quiet: r.quiet} }

// data takes the bytes from first up to end, in order only. A gap is reported once,
// until it is closed. Bytes that have come before are acknowledged again, because
// the sender cannot have received the acknowledgement.
func (e *Endpoint) data(now time.Duration, first, end int64, asked bool) {
	switch {
	case first > e.expected:
		if !e.refused {
			e.refused = true
			e.counters().Refusals++
			e.acknowledge(now, packet.NAK)
		}
		return
	case end <= e.expected:
		if asked {
			e.acknowledge(now, 0)
		}
		return
	}
	n := end - e.expected
	e.expected, e.refused = end, false
	if asked {
		e.acknowledge(now, 0)
	}
	e.user.Delivered(now, n)
}

// acknowledge tells the sender which byte is expected.
func (e *Endpoint) acknowledge(now time.Duration, flags packet.Flags) {
	e.answer(now, ackSize, e.dscp, packet.Segment{Ack: e.expected, Flags: packet.ACK | flags})
}

// marked takes data that came with a mark. It is the notification point of
// DCQCN (section 3.1, figure 6): the first mark is answered at once, those of
// the interval after it together at its end.
func (e *Endpoint) marked(now time.Duration) {
	if e.quiet.Pending() {
		e.again = true
		return
	}
	dscp := e.dscp
	if own := e.stack.config.CNPDSCP; own >= 0 {
		dscp = uint8(own)
	}
	e.counters().Notifications++
	e.again = false
	e.stack.loop.Schedule(e.quiet, now+e.stack.config.CNPInterval)
	e.answer(now, cnpSize, dscp, packet.Segment{Flags: packet.CNP})
}

// quietOver ends the interval after a notification.
func (e *Endpoint) quietOver(now time.Duration) {
	if e.again {
		e.marked(now)
	}
}
