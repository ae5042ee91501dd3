package fabric

import (
	"net/netip"
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// delayLine holds back what a host sends before its uplink takes it, as the
// stack, a hypervisor or netem at the sender would. Each flow belongs to one of
// its classes, and a class keeps the order of its packets: they stand in a FIFO
// with a single timer for the first to leave. While they stand there, Due is
// when they do.
//
// Pure ACKs pass at once, because the delay is drawn for the sender of the data. If ACKs
// were held back, too, the delay of their own host would be added, and no round trip
// would take the time that was drawn for it.
type delayLine struct {
	lane    *event.Lane
	uplink  *wire
	rate    units.Rate // of the uplink, when held was last counted
	classes []delayClass
	longest time.Duration // of the delays
	held    time.Duration // what the uplink will take for all that stands here

	states, ahead []HostState // of the timeline; those that are to come, in lab time
}

// delayClass is the flows of a host that share a delay.
type delayClass struct {
	delay   time.Duration
	last    time.Duration // when the newest packet leaves, or has left
	waiting packet.Queue
	next    *event.Timer
	send    func(at time.Duration, k *packet.Packet)
}

// newDelayLine makes a class of each delay, before an uplink. Without any, then and
// later, there is no line.
func newDelayLine(uplink *wire, delays []time.Duration, states []HostState, send func(time.Duration, *packet.Packet)) *delayLine {
	if len(delays) == 0 && len(states) > 0 {
		delays = []time.Duration{0}
	}
	if len(delays) == 0 {
		return nil
	}
	l := &delayLine{lane: uplink.lane, uplink: uplink, rate: uplink.rate, classes: make([]delayClass, len(delays)), longest: slices.Max(delays), states: states}
	for i, d := range delays {
		c := &l.classes[i]
		c.delay, c.send = d, send
		c.next = event.NewTimer(func(now time.Duration) { l.release(c, now) })
	}
	return l
}

// begin begins the timeline.
func (l *delayLine) begin(zero time.Duration) {
	l.ahead = slices.Clone(l.states)
	for i := range l.ahead {
		l.ahead[i].At += zero
	}
}

// follow gives the classes the delays for what leaves the host's stack at the lab time
// at.
func (l *delayLine) follow(at time.Duration) {
	for len(l.ahead) > 0 && l.ahead[0].At <= at {
		delays := l.ahead[0].Delays
		for i := range l.classes {
			l.classes[i].delay = delays[min(i, len(delays)-1)]
		}
		l.longest, l.ahead = slices.Max(delays), l.ahead[1:]
	}
}

// takes is how long the uplink takes for k.
func (l *delayLine) takes(k *packet.Packet) time.Duration {
	if rate := l.uplink.rate; rate != l.rate {
		l.held = time.Duration(float64(l.held) * float64(l.rate) / float64(rate))
		l.rate = rate
	}
	return l.rate.Time(packet.OnWire(int(k.Size)))
}

// excess is what the uplink takes for all that stands here beyond the longest
// delay: below zero is how much more it could send meanwhile. What leaves the line
// after a shorter delay waits for up to the difference longer.
func (l *delayLine) excess() time.Duration { return l.held - l.longest }

// hold keeps k, which left the host's stack at the lab time at, for as long as
// its class says. When that is over already, because k was noticed late, it
// goes on at once, with the time at which it should have.
func (l *delayLine) hold(at time.Duration, k *packet.Packet) {
	l.follow(at)
	c := &l.classes[class(k.Hash, len(l.classes))]
	c.last = max(at+c.delay, c.last)
	if c.waiting.Head() == nil && c.last <= l.lane.Now() {
		c.send(c.last, k)
		return
	}
	k.Due = c.last
	c.waiting.Push(k)
	l.held += l.takes(k)
	if !c.next.Pending() {
		l.lane.Schedule(c.next, k.Due)
	}
}

// release lets the first packet of a class go.
func (l *delayLine) release(c *delayClass, now time.Duration) {
	k := c.waiting.Pop()
	l.held -= l.takes(k)
	if next := c.waiting.Head(); next != nil {
		l.lane.Schedule(c.next, next.Due)
	}
	c.send(now, k)
}

// class maps a flow's hash evenly to one of n classes. Its multiplier differs from that
// of [spread], so that a flow's class and its path are independent.
func class(hash uint32, n int) int {
	h := uint64(hash) * 0xd1342543de82ef95
	return int((h >> 32) * uint64(n) >> 32)
}

// Delay is how long the host holds back what it sends on a TCP connection over
// IPv4 from src to dst, pure ACKs excepted.
func (h Host) Delay(src, dst netip.AddrPort) time.Duration {
	if len(h.Delays) == 0 {
		return 0
	}
	return h.Delays[class(packet.HashTCP(src, dst), len(h.Delays))]
}
