package rdma

import (
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// Ends are the two ends of a connection, as one of them sees it.
type Ends struct {
	Local, Remote int32  // hosts
	Conn          int32  // number of the connection, the same at both ends
	Hash          uint32 // of what this end sends, for ECMP
}

// Upcalls tell the user of an endpoint what happened. They are the endpoint's
// last act in an event: an upcall may use the endpoint, and may release it.
type Upcalls interface {
	// Delivered hands over the next n bytes, above zero, of what the other end
	// wrote.
	Delivered(now time.Duration, n int64)
	// Acked is called when an acknowledgement came, and now all that was written
	// is acknowledged.
	Acked(now time.Duration)
	// Failed is called when the retransmission timer has expired again and again
	// for half a second with nothing new acknowledged. The endpoint does no more; both ends are to be released.
	Failed(now time.Duration)
}

// Endpoint is one end of a queue pair: a sender of messages to the peer, and the
// receiver of the peer's. It is handed its packets by [Endpoint.Receive].
type Endpoint struct {
	stack *Stack
	nic   *nic // of its host; nil while it is not established
	ends  Ends
	user  Upcalls
	sender
	receiver
}

func newEndpoint(s *Stack) *Endpoint {
	e := &Endpoint{stack: s}
	e.pace = event.NewTimer(e.offer)
	e.increase = event.NewTimer(e.ticked)
	e.rto = event.NewTimer(e.timedOut)
	e.quiet = event.NewTimer(e.quietOver)
	return e
}

// Establish makes the endpoint ready to send and to receive. Both ends of a
// connection have to be; nothing is exchanged for it.
func (e *Endpoint) Establish(ends Ends, user Upcalls) {
	e.ends, e.user = ends, user
	e.nic = &e.stack.nics[ends.Local]
	e.sender.reset(start(&e.stack.config.DCQCN, e.nic.rate))
	e.receiver.reset()
}

// Release ends the endpoint's use: it sends nothing any more, and what has not
// been acknowledged is forgotten. The stack hands it out again.
func (e *Endpoint) Release() {
	for _, t := range []*event.Timer{e.pace, e.increase, e.rto, e.quiet} {
		e.stack.loop.Cancel(t)
	}
	if e.inLine {
		e.nic.leave(e)
	}
	e.nic, e.user = nil, nil
	e.after, e.stack.free = e.stack.free, e
}

// Receive takes a packet that reached the endpoint's host, and puts it back into the
// pool. It ignores a packet of another connection.
func (e *Endpoint) Receive(now time.Duration, k *packet.Packet) {
	ours := e.nic != nil && k.Segment.Conn == e.ends.Conn
	flags, ack := k.Segment.Flags, k.Segment.Ack
	first, end := k.Segment.Seq, k.Segment.Seq+int64(k.Segment.Len)
	dscp, marked := k.DSCP, k.ECN == packet.CE
	e.stack.pool.Put(k)
	switch {
	case !ours:
	case flags&packet.CNP != 0:
		e.notified(now)
	case flags&packet.ACK != 0:
		e.acknowledged(now, ack, flags&packet.NAK != 0)
	default:
		e.dscp = dscp
		if marked {
			e.counters().CEReceived++
			e.marked(now)
		}
		e.data(now, first, end, flags&packet.REQ != 0)
	}
}

// Network-layer sizes: IPv4 20, UDP 8, base transport header 12 and ICRC 4
// bytes; an acknowledgement adds its extended header of 4, a notification 16
// reserved bytes (InfiniBand architecture specification, annex 17).
const (
	dataHeaders = 44
	ackSize     = dataHeaders + 4
	cnpSize     = dataHeaders + 16
)

// packet makes a packet to the peer, whose ECN field and answering role the
// caller sets.
func (e *Endpoint) packet(size int, dscp uint8) *packet.Packet {
	k := e.stack.pool.Get()
	k.Size, k.Src, k.Dst, k.Hash = int32(size), e.ends.Local, e.ends.Remote, e.ends.Hash
	k.DSCP, k.ECE = dscp, false
	return k
}

// answer sends a packet that answers data. It counts as a pure ACK: hosts that
// hold their data back, for a base RTT, let it pass as they do TCP's.
func (e *Endpoint) answer(now time.Duration, size int, dscp uint8, s packet.Segment) {
	k := e.packet(size, dscp)
	k.ECN, k.PureACK = packet.NotECT, true
	s.Conn = e.ends.Conn
	k.Segment = s
	e.nic.answer(now, k)
}

// counters are those of the endpoint's host.
func (e *Endpoint) counters() *Counters { return &e.stack.counters[e.ends.Local] }
