package fabric

import (
	"time"

	"aqmlab/event"
	"aqmlab/switch/packet"
)

// delayLine holds back what a host sends before its uplink takes it, as the
// stack, a hypervisor or netem at the sender would. Each flow belongs to one of
// its classes, and a class keeps the order of its packets: they stand in a FIFO
// with a single timer for the first to leave. While they stand there, Due is
// when they do.
//
// Pure ACKs pass at once. The delay is that of the data's sender: an ACK that
// was held back too would meet the delay of its own host on top, and no round
// trip would take what was drawn for it.
type delayLine struct {
	loop    *event.Loop
	classes []delayClass
}

// delayClass is the flows of a host that share a delay.
type delayClass struct {
	delay   time.Duration
	last    time.Duration // when the newest packet leaves, or has left
	waiting packet.Queue
	next    *event.Timer
	send    func(at time.Duration, k *packet.Packet)
}

// newDelayLine makes a class of each delay. Without any there is no line.
func newDelayLine(loop *event.Loop, delays []time.Duration, send func(time.Duration, *packet.Packet)) *delayLine {
	if len(delays) == 0 {
		return nil
	}
	l := &delayLine{loop: loop, classes: make([]delayClass, len(delays))}
	for i, d := range delays {
		c := &l.classes[i]
		c.delay, c.send = d, send
		c.next = event.NewTimer(func(now time.Duration) { c.release(loop, now) })
	}
	return l
}

// hold keeps k, which left the host's stack at the lab time at, for as long as
// its class says. When that is over already, because k was noticed late, it
// goes on at once, with the time at which it should have.
func (l *delayLine) hold(at time.Duration, k *packet.Packet) {
	c := &l.classes[class(k.Hash, len(l.classes))]
	c.last = max(at+c.delay, c.last)
	if c.waiting.Head() == nil && c.last <= l.loop.Now() {
		c.send(c.last, k)
		return
	}
	k.Due = c.last
	c.waiting.Push(k)
	if !c.next.Pending() {
		l.loop.Schedule(c.next, k.Due)
	}
}

// release lets the first packet go.
func (c *delayClass) release(loop *event.Loop, now time.Duration) {
	k := c.waiting.Pop()
	if next := c.waiting.Head(); next != nil {
		loop.Schedule(c.next, next.Due)
	}
	c.send(now, k)
}

// class maps a flow's hash evenly to one of n classes. Its multiplier is
// another than that of [spread], so that a flow's class says nothing of its
// path.
func class(hash uint32, n int) int {
	h := uint64(hash) * 0xd1342543de82ef95
	return int((h >> 32) * uint64(n) >> 32)
}
