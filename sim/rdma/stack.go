// Package rdma models hosts that speak RoCEv2 with DCQCN: queue pairs that send
// messages at a rate, without a handshake or a window, over a network that is
// lossless (see package fabric, Pause) or not.
//
// Congestion control is DCQCN (Zhu et al., Congestion Control for Large-Scale
// RDMA Deployments, SIGCOMM 2015): the receiver answers marked data with
// notifications, and the sender's rate follows them. Reliability is go-back-N,
// as in the network cards of that paper: the receiver takes packets in order
// only and reports the first gap; the sender starts again from there. What is
// lost without a report is found by a timer.
package rdma

import (
	"errors"
	"fmt"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
	"aqmlab/units"
)

// Stack is the RDMA side of all hosts of a network. It stands on the network's
// event loop and reads no clock.
type Stack struct {
	loop     *event.Loop
	pool     *packet.Pool
	send     func(at time.Duration, host int, k *packet.Packet)
	config   Config
	payload  int64 // of a full packet
	nics     []nic
	counters []Counters
	free     *Endpoint
}

// Counters add up what happened to the flows of a host since the stack was
// built.
type Counters struct {
	Cuts          int64 // of the rate, each for a notification that came back
	CEReceived    int64 // packets that came marked
	Notifications int64 // sent for those
	Refusals      int64 // sent, for gaps in the data that came
	Retransmits   int64 // packets sent more than once
	Timeouts      int64 // retransmission timers that expired
}

// NewStack makes a stack whose hosts take packets from pool and hand them to
// send, when the first bit leaves. Errors name the parameter that does not fit.
func NewStack(loop *event.Loop, pool *packet.Pool, send func(at time.Duration, host int, k *packet.Packet), c Config) (*Stack, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("rdma: %w", err)
	}
	s := &Stack{
		loop: loop, pool: pool, send: send, config: c,
		payload:  int64(c.Payload()),
		nics:     make([]nic, len(c.Uplinks)),
		counters: make([]Counters, len(c.Uplinks)),
	}
	for i, rate := range c.Uplinks {
		n := &s.nics[i]
		n.stack, n.host, n.rate, n.next = s, i, rate, event.NewTimer(n.serve)
	}
	return s, nil
}

// Counters are those of a host.
func (s *Stack) Counters(host int) Counters { return s.counters[host] }

// Pause takes what the network's flow control says of a host's uplink: while it
// is stopped the host keeps its packets.
func (s *Stack) Pause(now time.Duration, host int, stopped bool) {
	s.nics[host].stopped = stopped
	s.nics[host].serve(now)
}

// Rate changes the rate of a host's link, for packets that are sent from now on. Flows that
// are established from then on start at that rate. Those that are go on to hold to theirs,
// and share what the link has.
func (s *Stack) Rate(host int, rate units.Rate) {
	n := &s.nics[host]
	n.rate, n.clock = rate, units.Clock{} // its fraction is over the rate before
}

// Endpoint hands out one end of a connection, to be established before use and
// released after it.
func (s *Stack) Endpoint() *Endpoint {
	e := s.free
	if e == nil {
		e = &Endpoint{stack: s}
		e.pace = event.NewTimer(e.offer)
		e.increase = event.NewTimer(e.ticked)
		e.rto = event.NewTimer(e.timedOut)
		e.quiet = event.NewTimer(e.quietOver)
		return e
	}
	s.free, e.after = e.after, nil
	return e
}

// Config says what hosts a stack models.
type Config struct {
	transport.DCQCN
	// Uplinks are the rates of the hosts' links. A flow starts at that of its
	// host and never sends faster.
	Uplinks []units.Rate
	// MTU is the network-layer size of a full packet in bytes. RoCE's own path
	// MTUs are powers of two; the model fills the link's, so that a threshold of
	// some packets means the same as under TCP.
	MTU int
	// RTO is the time without progress after which a sender goes back to what
	// the receiver has not acknowledged. It does not back off.
	RTO time.Duration
}

// Payload is how many bytes of a message a full packet carries.
func (c *Config) Payload() int { return c.MTU - dataHeaders }

func (c *Config) check() error {
	if len(c.Uplinks) == 0 {
		return errors.New("no hosts")
	}
	for i, r := range c.Uplinks {
		if r < c.MinRate {
			return fmt.Errorf("uplink of host %d: %v is below min_rate, %v", i, r, c.MinRate)
		}
	}
	if c.Payload() <= 0 {
		return fmt.Errorf("MTU of %d bytes leaves no payload behind %d of headers", c.MTU, dataHeaders)
	}
	if c.RTO <= 0 {
		return fmt.Errorf("RTO %v is not above zero", c.RTO)
	}
	return nil
}

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
	k.DSCP, k.PureACK, k.ECE = dscp, false, false
	return k
}

// answer sends a packet that answers data.
func (e *Endpoint) answer(now time.Duration, size int, dscp uint8, s packet.Segment) {
	k := e.packet(size, dscp)
	k.ECN, k.Answer = packet.NotECT, true
	s.Conn = e.ends.Conn
	k.Segment = s
	e.nic.answer(now, k)
}

// counters are those of the endpoint's host.
func (e *Endpoint) counters() *Counters { return &e.stack.counters[e.ends.Local] }

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
