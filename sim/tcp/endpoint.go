package tcp

import (
	"math"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/units"
)

// state is where a connection stands (RFC 9293, section 3.3.2).
type state uint8

const (
	closed state = iota
	listening
	synSent
	synReceived
	established
)

// Endpoint is one end of a connection. Both ends may send; acknowledgements
// ride on data. An endpoint comes from [Stack.Endpoint].
type Endpoint struct {
	stack    *Stack
	next     *Endpoint // in the free list
	life     uint32    // counts the releases
	state    state
	ends     Ends
	counters *Counters
	user     Upcalls

	// What this end sends.
	una, nxt   int64 // bytes acknowledged, bytes sent
	edge       int64 // first byte that the other end has no room for
	stream     stream
	win        window
	control    control
	rtt        estimator
	board      scoreboard
	rack       rack
	reduction  reduction
	limit      limiter
	echo       reaction
	retransmit alarm
	purpose    purpose       // of the alarm
	echoed     bool          // the last acknowledgement of new data had an ECN echo
	expires    time.Duration // when the retransmission timer does
	uplink     uplink
	resends    resends
	super      superPacket
	steer      steering // the control, if it is one
	pace       pacer
	told       ceTold
	sample     sample

	rcv receiver // what this end receives
}

// Open begins a connection: it sends a SYN. The other end must listen when that
// arrives. The counters are those of the local host.
func (e *Endpoint) Open(now time.Duration, ends Ends, c *Counters, user Upcalls) {
	e.begin(now, synSent, ends, c, user)
	e.sendSYN(now)
}

// Listen waits for the SYN of the other end.
func (e *Endpoint) Listen(ends Ends, c *Counters, user Upcalls) {
	e.begin(e.stack.loop.Now(), listening, ends, c, user)
}

// Establish makes one end of a connection that is open already. It calls no
// upcall; the other end must be established in the same instant.
func (e *Endpoint) Establish(ends Ends, c *Counters, user Upcalls) {
	e.begin(e.stack.loop.Now(), established, ends, c, user)
	if rto := e.stack.config.RTOOpen; rto > 0 {
		e.rtt.rto = rto
	}
}

func (e *Endpoint) begin(now time.Duration, s state, ends Ends, c *Counters, user Upcalls) {
	config := &e.stack.config
	e.state, e.ends, e.counters, e.user = s, ends, c, user
	e.una, e.nxt = 0, 0
	e.stream.reset()
	e.win = newWindow(e.stack.mss, int64(config.InitCwnd))
	e.win.whole = config.Hold
	e.control.open()
	e.rtt = estimator{rto: config.RTOInit}
	e.board.reset()
	e.rack.reset()
	e.reduction = reduction{}
	e.purpose = forTimeout
	e.limit = limiter{}
	e.uplink.leaves = 0
	e.resends = resends{}
	e.super = superPacket{}
	e.pace.began, e.pace.sent, e.told = 0, 0, ceTold{ace: firstACE}
	e.echo, e.echoed = reaction{cut: -1}, false
	e.rcv.reset()
	if e.stack.family.echo == echoCounts {
		e.rcv.count.begin()
	}
	if e.steer != nil {
		e.steer.begin(&e.win)
	}
	e.edge = math.MaxInt64
	if c := &config.Receive; c.Buffer > 0 {
		e.edge = c.first(e.stack.mss)
		e.rcv.space.reset(now, c, e.stack.mss)
	}
}

// resends counts what an endpoint sent again since it was opened.
type resends struct{ packets, timeouts int64 }

// Info is what an endpoint knows as a sender.
type Info struct {
	Resent   int64         // segments that it has sent again since it was opened, SYNs not included
	Timeouts int64         // expiries of its retransmission timer since then
	Cwnd     int64         // congestion window in bytes
	SSThresh int64         // slow-start threshold in bytes; zero: none yet
	SRTT     time.Duration // smoothed round-trip time; zero: not measured
	Alpha    float64       // estimated share of marked bytes, 0 to 1; below zero: its control keeps none
	Rate     units.Rate    // of payload at which its data is paced; zero: it is not
}

// Info tells what the endpoint knows now.
func (e *Endpoint) Info() Info {
	l := Info{
		Resent: e.resends.packets, Timeouts: e.resends.timeouts,
		Cwnd: e.win.cwnd, SSThresh: e.win.ssthresh, SRTT: time.Duration(e.rtt.srtt), Alpha: e.control.markedShare(),
		Rate: units.Rate(8 * e.win.rate),
	}
	if l.SSThresh == math.MaxInt64 {
		l.SSThresh = 0
	}
	return l
}

// SetDSCP changes the DSCP of the segments without payload that are sent from
// now on, as setting a socket's type of service does.
func (e *Endpoint) SetDSCP(dscp uint8) { e.ends.DSCP = dscp }

// Write appends a message of that many bytes, above zero, to the stream. It may
// be called before the connection is established. Bytes written to one endpoint
// must add up to less than 2^62.
func (e *Endpoint) Write(now time.Duration, bytes int64, tag Tag) {
	e.lacks(now)
	e.stream.write(bytes, tag)
	e.push(now)
}

// Stop drops what was written and not yet sent. What was sent stays reliable:
// it is sent again when lost, and [Upcalls] tell when it is acknowledged, unless
// that is so already.
func (e *Endpoint) Stop(time.Duration) { e.stream.cut(e.nxt) }

// Release gives the endpoint back, which answers no packet any more. Release both
// ends of a connection, when neither has anything left to send. Packets that are
// still under way may be given to [Endpoint.Receive], which drops them, or put back
// into the pool.
func (e *Endpoint) Release() {
	e.retransmit.remove()
	e.uplink.drained.remove()
	e.pace.ready.remove()
	e.rcv.delay.remove()
	e.life++
	e.state, e.counters, e.user = closed, nil, nil
	e.next, e.stack.free = e.stack.free, e
}

// Receive takes a packet that reached the local host, and puts it back into the pool.
// It ignores a packet of another connection.
func (e *Endpoint) Receive(now time.Duration, k *packet.Packet) {
	if e.state != closed && k.Segment.Conn == e.ends.Conn {
		e.receive(now, k)
	}
	e.stack.pool.Put(k)
}

func (e *Endpoint) receive(now time.Duration, k *packet.Packet) {
	if k.ECN == packet.CE {
		e.counters.CEReceived++
		if e.rcv.count.ace != 0 {
			e.rcv.count.add(&k.Segment)
		}
	}
	life := e.life
	if e.state != established || k.Segment.Flags&packet.SYN != 0 {
		if !e.handshake(now, k) || e.life != life {
			return
		}
	}
	e.offered(&k.Segment)
	e.rcv.stamped(&k.Segment)
	e.takeAck(now, k)
	if e.life == life && k.Segment.Len > 0 {
		e.takeData(now, k)
	}
}

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
