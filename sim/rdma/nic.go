package rdma

import (
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// nic is a host's network card. It sends one packet at a time at the rate of
// its link: first what answers the data of others, then one packet of each
// flow in turn that its rate lets send. So no packets of a flow wait behind
// those of another, other than in the network.
//
// A flow that may send stands in the nic's line.
type nic struct {
	stack   *Stack
	host    int
	rate    units.Rate
	clock   units.Clock
	free    time.Duration // when the packet on the wire has been sent
	stopped bool          // by flow control
	answers packet.Queue
	first   *Endpoint // of the line
	last    *Endpoint
	next    *event.Timer // for free, when something waits
}

func (n *nic) init(s *Stack, host int, rate units.Rate) {
	*n = nic{stack: s, host: host, rate: rate}
	n.next = event.NewTimer(n.serve)
}

// answer sends a packet that answers data as soon as the wire is free.
func (n *nic) answer(now time.Duration, k *packet.Packet) {
	n.answers.Push(k)
	n.serve(now)
}

// join puts a flow at the end of the line.
func (n *nic) join(now time.Duration, e *Endpoint) {
	e.inLine, e.after = true, nil
	if n.last == nil {
		n.first = e
	} else {
		n.last.after = e
	}
	n.last = e
	n.serve(now)
}

// leave takes a flow out of the line, wherever it stands.
func (n *nic) leave(e *Endpoint) {
	var before *Endpoint
	for at := n.first; at != e; at = at.after {
		before = at
	}
	if before == nil {
		n.first = e.after
	} else {
		before.after = e.after
	}
	if n.last == e {
		n.last = before
	}
	e.inLine, e.after = false, nil
}

// serve sends the next packet, if there is one and the wire is free.
func (n *nic) serve(now time.Duration) {
	switch {
	case n.stopped || n.answers.Head() == nil && n.first == nil:
	case now < n.free:
		if !n.next.Pending() {
			n.stack.loop.Schedule(n.next, n.free)
		}
	default:
		n.send(now)
	}
}

// send puts a packet on the wire. Its flow looks for a new place in the line
// when it is known until when the wire is busy.
func (n *nic) send(now time.Duration) {
	k, e := n.answers.Pop(), (*Endpoint)(nil)
	if k == nil {
		e = n.first
		n.leave(e)
		k = e.emit(now)
	}
	n.free = n.clock.Transmit(now, int(k.Size)+packet.FrameOverhead, n.rate, now == n.free)
	n.stack.send(now, n.host, k)
	if e != nil {
		e.offer(now)
	}
	n.serve(now)
}

// pause takes what flow control says.
func (n *nic) pause(now time.Duration, stopped bool) {
	n.stopped = stopped
	n.serve(now)
}
