package rdma

import (
	"math"
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// sender is the sending half of an endpoint. Bytes are numbered from zero over
// all messages.
type sender struct {
	messages []message // that are not acknowledged whole
	current  int       // which of them next belongs to
	written  int64     // end of the last message
	next     int64     // byte to send
	highest  int64     // end of what has been sent at least once
	acked    int64     // end of what the peer has said it has
	asked    int64     // end of what acknowledgement has been asked for
	unasked  int       // packets sent since
	rto      *event.Timer
	barren   bool          // rto has expired since acked rose
	since    time.Duration // when it first began to run then
	resent   int64         // packets sent more than once
	timeouts int64         // expiries of rto

	reaction reaction
	increase *event.Timer // of the rate, while it is limited

	// A flow with something to send either stands in its nic's line or waits
	// for pace.
	pace   *event.Timer
	due    time.Duration // when the rate lets it send
	clock  units.Clock
	inLine bool
	after  *Endpoint // next in the line, or of the stack's free list
}

// message is a run of bytes that packets do not cross the end of.
type message struct {
	start, end int64
	dscp       uint8
}

// reset forgets the last connection. Its timers are not pending.
func (s *sender) reset(r reaction) {
	*s = sender{messages: s.messages[:0], rto: s.rto, increase: s.increase, pace: s.pace, reaction: r}
}

// Write sends a message of that many bytes, above zero, in packets of that DSCP,
// behind those that were written before.
func (e *Endpoint) Write(now time.Duration, bytes int64, dscp uint8) {
	e.messages = append(e.messages, message{e.written, e.written + bytes, dscp})
	e.written += bytes
	e.offer(now)
}

// Stop drops what was written and not yet sent, except one packet. That packet ends
// the message under way, so that all of it is acknowledged.
func (e *Endpoint) Stop(time.Duration) {
	if e.next == e.written {
		return
	}
	end := e.highest
	if e.next == e.highest {
		end = min(e.next+e.stack.payload, e.messages[e.current].end)
	}
	e.written = end
	last := e.current
	for e.messages[last].end < end {
		last++
	}
	e.messages = e.messages[:last+1]
	e.messages[last].end = end
}

// Info is what an endpoint knows as a sender.
type Info struct {
	Resent   int64      // packets that it has sent again since it was established
	Timeouts int64      // expiries of its retransmission timer since then
	Rate     units.Rate // that it holds to
	Alpha    float64    // estimate of congestion, 0 to 1
}

// Info tells what the endpoint knows at now.
func (e *Endpoint) Info(now time.Duration) Info {
	return Info{Resent: e.resent, Timeouts: e.timeouts, Rate: e.reaction.rate, Alpha: e.reaction.decayed(now)}
}

// offer joins the line at the nic, or waits until the rate lets the endpoint send. An
// endpoint that is due before the nic is free joins at once. Waiting in the line
// saves up no rate.
func (e *Endpoint) offer(now time.Duration) {
	switch {
	case e.inLine || e.next == e.written:
	case e.due <= max(now, e.nic.free):
		e.stack.loop.Cancel(e.pace)
		e.due = max(e.due, now)
		e.nic.join(now, e)
	default:
		e.stack.loop.Schedule(e.pace, e.due)
	}
}

// emit makes the next packet, whose first bit leaves at now. There is one.
func (e *Endpoint) emit(now time.Duration) *packet.Packet {
	m := e.messages[e.current]
	n := min(e.stack.payload, m.end-e.next)
	k := e.packet(int(n)+dataHeaders, m.dscp)
	k.ECN, k.Answer = packet.ECT0, false
	k.Segment = packet.Segment{Conn: e.ends.Conn, Len: int32(n), Seq: e.next, Left: upTo32(m.end - e.next), Before: upTo32(e.next - m.start)}
	if e.next < e.highest {
		e.counters().Retransmits++
		e.resent++
	}
	e.next += n
	e.highest = max(e.highest, e.next)
	e.unasked++
	if e.next == m.end || e.unasked >= e.stack.config.AckEvery {
		k.Segment.Flags = packet.REQ
		e.ask(now)
	}
	if e.next == m.end {
		e.current++
	}
	e.spend(now, int(k.Size))
	return k
}

// ask notes that the packet being sent asks for an acknowledgement.
func (e *Endpoint) ask(now time.Duration) {
	e.asked, e.unasked = e.next, 0
	if !e.rto.Pending() {
		e.stack.loop.Schedule(e.rto, now+e.stack.config.RTO)
	}
}

// spend works out when the rate lets the next packet go after one of that many
// bytes that leaves at now. Packets that waited for the nic make up for it by at
// most one: the wait must neither cost the flow its rate nor turn into a burst.
func (e *Endpoint) spend(now time.Duration, size int) {
	wire := packet.OnWire(size)
	from := max(e.due, now-e.reaction.rate.Time(wire))
	e.due = e.clock.Transmit(from, wire, e.reaction.rate, from == e.due)
	if before := e.reaction.rate; e.reaction.sent(size) {
		e.repace(now, before)
	}
}

// repace adapts the wait for the next packet to a rate that changed at now: the bits
// that are left of it take another time.
func (e *Endpoint) repace(now time.Duration, before units.Rate) {
	if e.reaction.rate == before {
		return
	}
	if !e.reaction.limited() {
		e.stack.loop.Cancel(e.increase)
	}
	e.clock = units.Clock{} // its fraction is over the rate before
	if e.due > now {
		e.due = now + time.Duration(float64(e.due-now)*float64(before)/float64(e.reaction.rate))
	}
	if e.pace.Pending() {
		e.offer(now)
	}
}

// notified takes a congestion notification.
func (e *Endpoint) notified(now time.Duration) {
	before := e.reaction.rate
	e.reaction.notified(now)
	e.counters().Cuts++
	e.round(now)
	e.repace(now, before)
}

// ticked ends a round of the increase by the timer.
func (e *Endpoint) ticked(now time.Duration) {
	before := e.reaction.rate
	e.reaction.ticked()
	e.round(now)
	e.repace(now, before)
}

// round starts a round of the timer, if there is anything to increase.
func (e *Endpoint) round(now time.Duration) {
	if e.reaction.limited() {
		e.stack.loop.Schedule(e.increase, now+e.stack.config.Timer)
	}
}

// acknowledged takes the byte that the receiver expects next. If the receiver
// refused the bytes after it, all of them are sent again.
func (e *Endpoint) acknowledged(now time.Duration, expected int64, refused bool) {
	if expected < e.acked || expected == e.acked && !refused {
		return
	}
	news := expected > e.acked
	e.acked = expected
	if news {
		e.barren = false
	}
	if refused {
		e.goBack()
	}
	e.settle()
	e.stack.loop.Cancel(e.rto)
	if e.asked > e.acked {
		e.stack.loop.Schedule(e.rto, now+e.stack.config.RTO)
	}
	e.offer(now)
	if news && e.acked == e.written {
		e.user.Acked(now)
	}
}

// settle forgets the messages that are wholly acknowledged, and finds the one that
// the next byte belongs to. A sender that went back may learn that the receiver has
// more than it thought.
func (e *Endpoint) settle() {
	e.next = max(e.next, e.acked)
	whole := 0
	for whole < len(e.messages) && e.messages[whole].end <= e.acked {
		whole++
	}
	e.messages = slices.Delete(e.messages, 0, whole)
	e.current = 0
	for e.current < len(e.messages) && e.messages[e.current].end <= e.next {
		e.current++
	}
	if e.inLine && e.next == e.written {
		e.nic.leave(e)
	}
}

// patience is how long a sender goes back again and again without progress before
// it gives up: eight times 67 ms, for seven retries, the most that InfiniBand's
// retry count can say, after a timeout of 4.096 us times 2^14, which is what hosts
// mostly set.
const patience = 8 * (4096 * time.Nanosecond << 14)

// timedOut goes back to the first byte that is not acknowledged, or gives up.
func (e *Endpoint) timedOut(now time.Duration) {
	e.counters().Timeouts++
	e.timeouts++
	if !e.barren {
		e.barren, e.since = true, now-e.stack.config.RTO
	}
	if now-e.since >= patience {
		e.user.Failed(now)
		return
	}
	e.goBack()
	e.settle()
	e.offer(now)
}

// goBack sends everything again that is not acknowledged. It waits no longer for the
// answers that were asked for, because at a low rate it takes long to ask again.
func (e *Endpoint) goBack() { e.next, e.asked, e.unasked = e.acked, e.acked, 0 }

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
	n.free = n.clock.Transmit(now, packet.OnWire(int(k.Size)), n.rate, now == n.free)
	n.stack.send(now, n.host, k)
	if e != nil {
		e.offer(now)
	}
	n.serve(now)
}

// upTo32 is n, or the largest number that a segment has room for.
func upTo32(n int64) uint32 { return uint32(min(n, math.MaxUint32)) }
