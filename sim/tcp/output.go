package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// compose makes a segment of n bytes from seq on, with the acknowledgement that
// rides on it. Its DSCP, ECN field and further flags are for the caller.
func (e *Endpoint) compose(now time.Duration, seq, n int64) *packet.Packet {
	r := &e.rcv
	k := e.stack.pool.Get()
	k.Size = int32(e.stack.config.Header + sackBytes(r.blocks) + int(n))
	k.Src, k.Dst, k.Hash = e.ends.Local, e.ends.Remote, e.ends.Hash
	k.PureACK, k.ECE = n == 0, r.ce
	s := &k.Segment
	s.Conn, s.Len, s.Seq, s.Ack, s.Flags = e.ends.Conn, int32(n), seq, r.next, packet.ACK
	s.Stamp, s.Echo, s.Window = now, r.stamp, 0
	s.Blocks, s.ACE, s.Left, s.Before = uint8(r.blocks), r.count.ace, 0, 0
	if r.blocks > 0 {
		s.SACK = r.recent
	}
	if e.stack.config.Receive.Buffer > 0 {
		s.Window = int32(r.space.offer(r.next, e.stack.memory))
	}
	if r.pending > 0 && r.acks.quick > 0 {
		r.acks.quick--
	}
	r.acked, r.pending, r.count.untold = r.next, 0, 0
	r.delay.stop()
	return k
}

func (e *Endpoint) send(now time.Duration, k *packet.Packet) {
	e.stack.send(now, int(e.ends.Local), k)
}

// acknowledge sends a pure ACK.
func (e *Endpoint) acknowledge(now time.Duration) {
	k := e.compose(now, e.nxt, 0)
	k.DSCP, k.ECN = e.ends.DSCP, e.stack.family.others
	e.send(now, k)
}

// sendSYN begins the handshake, or answers the SYN that began it. Whether ECN is
// spoken needs no negotiation: all hosts of a stack do, or none.
func (e *Endpoint) sendSYN(now time.Duration) {
	k := e.compose(now, 0, 0)
	k.DSCP, k.ECN = e.ends.DSCP, e.stack.family.others
	k.PureACK = false
	k.Segment.Flags = packet.SYN | packet.ACK
	if e.state == synSent {
		k.Segment.Flags = packet.SYN
	}
	e.send(now, k)
	e.retransmit.start(now + e.rtt.rto)
}

// sendNew sends n bytes that were never sent.
func (e *Endpoint) sendNew(now time.Duration, n int64) {
	k := e.compose(now, e.nxt, n)
	k.ECN = e.stack.family.data
	e.stream.tag(k, e.nxt)
	if e.echo.cwr {
		k.Segment.Flags |= packet.CWR
		e.echo.cwr = false
	}
	e.pushed(k)
	if e.stack.rack {
		e.rack.send(now, e.nxt, e.nxt+n)
	}
	if m := e.rack.meter; m != nil {
		m.leaves(now, &e.rack.transit, e.rack.tail-1)
	}
	e.nxt += n
	e.sent(now, k)
}

// sendAgain sends n bytes once more. RFC 3168, section 6.1.5, wants them not to
// be ECN-capable; for DCTCP see [Controls].
func (e *Endpoint) sendAgain(now time.Duration, seq, n int64) {
	e.counters.Retransmits++
	e.resends.packets++
	k := e.compose(now, seq, n)
	k.ECN = e.stack.family.others
	e.stream.tag(k, seq)
	e.pushed(k)
	e.sent(now, k)
}

// pushed sets the push flag of a segment behind which there is nothing to send
// (RFC 9293, section 3.9.1.2).
func (e *Endpoint) pushed(k *packet.Packet) {
	if s := &k.Segment; s.Seq+int64(s.Len) == e.stream.end {
		s.Flags |= packet.PSH
	}
}

func (e *Endpoint) sent(now time.Duration, k *packet.Packet) {
	e.limit.sent = now
	e.rcv.acks.answered(now, e.stack.config.AckTimeout)
	e.reduction.sent += int64(k.Segment.Len)
	if e.win.rate > 0 {
		e.pace.spend(now, int64(k.Segment.Len), e.win.rate)
	}
	if !e.retransmit.set {
		e.restart(now)
	}
	e.send(now, k)
	if c := &e.stack.config; c.SmallQueue > 0 {
		e.uplink.leaves = now + c.Backlog(now, int(e.ends.Local))
	}
	e.arm(now)
}
