package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// handshake takes a segment before the connection is established, and any SYN.
// It tells whether there is more in the segment to be taken.
func (e *Endpoint) handshake(now time.Duration, k *packet.Packet) (more bool) {
	s := &k.Segment
	syn, ack := s.Flags&packet.SYN != 0, s.Flags&packet.ACK != 0
	switch {
	case e.state == listening && syn && !ack:
		e.state = synReceived
		e.rcv.stamped(s)
		e.sendSYN(now)
	case e.state == synReceived && syn: // ours was lost, or late
		e.sendSYN(now)
	case e.state == synReceived && ack:
		e.establish(now, s)
		return true
	case e.state == synSent && syn && ack:
		e.rcv.stamped(s)
		e.rcv.pending++
		life := e.life
		e.establish(now, s)
		if e.life == life && e.rcv.pending > 0 { // no data carried the acknowledgement
			e.acknowledge(now)
		}
	case e.state == established && syn && ack: // ours was lost
		e.acknowledge(now)
	}
	return false
}

// establish ends the handshake with a segment that acknowledges the SYN. After the
// loss of more than one SYN the window starts at one segment. RFC 5681, section 3.1,
// asks for that after one loss already; this follows Linux.
func (e *Endpoint) establish(now time.Duration, s *packet.Segment) {
	e.retransmit.stop()
	e.state = established
	if e.rtt.backoffs > 1 {
		e.win.cwnd = e.win.mss
	}
	e.rtt.sample(&e.stack.config, now-s.Echo, 1)
	life := e.life
	e.user.Established(now)
	if e.life == life {
		e.push(now)
	}
}
