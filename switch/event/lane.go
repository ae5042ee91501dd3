package event

import "time"

// Lane orders the events of one node of a network, or of nodes that always share a loop.
// The events of one instant run lane by lane. Within a lane those come first that come
// from elsewhere, in an order that differs from one instant to the next, see [Way], and
// then timers, in the order in which they were scheduled. So the order in a lane does not
// depend on what else the loop runs, and a network may be spread over several loops.
type Lane struct {
	loop  *Loop
	first uint64 // of the lane's keys
	count uint64 // of timers that were scheduled
}

// A key of a lane has the lane's number in its high bits, below it one bit that timers of
// the lane have or one that what comes from elsewhere has, and below these a number.
const (
	laneShift = 42
	laneTimer = 1 << (laneShift - 1)
	laneWay   = 1 << (laneShift - 2)
)

// Key is the place of an event among those of one instant. At any time it is that of one
// pending timer at most.
type Key uint64

// Lane returns a new lane of the loop. Its number is above zero, below four million, and
// that of no other one. Zero is the loop's own lane, which [Loop.Schedule] uses.
func (l *Loop) Lane(number int) *Lane {
	return &Lane{loop: l, first: uint64(number) << laneShift}
}

// Own is the loop's own lane.
func (l *Loop) Own() *Lane {
	l.own.loop = l
	return &l.own
}

// Loop is the loop of which the lane is one.
func (n *Lane) Loop() *Loop { return n.loop }

// Now is the lab time of the loop.
func (n *Lane) Now() time.Duration { return n.loop.now }

// Schedule arms a timer as [Loop.Schedule] does, in this lane.
func (n *Lane) Schedule(t *Timer, at time.Duration) {
	n.loop.ScheduleBy(n.next(), t, at)
}

// Cancel disarms a timer.
func (n *Lane) Cancel(t *Timer) { n.loop.Cancel(t) }

// next is the key of the next timer.
func (n *Lane) next() Key {
	n.count++
	return Key(n.first | laneTimer | n.count)
}

// Way is where something that comes to a lane from elsewhere comes by.
type Way struct{ key uint64 }

// Way returns the way of that number, zero or more, to the lane.
func (n *Lane) Way(number int) Way { return Way{n.first | laneWay | uint64(number)} }

// At is the key of what comes by the way at a lab time. Of what comes by several ways in
// one instant, a hash of the time decides what is first: flows that are clocked by one
// link meet in the same instants again and again, and the one of them that always came
// first would take all the room that a full queue has (phase effects: Floyd and Jacobson,
// "On Traffic Phase Effects in Packet-Switched Gateways", 1992).
func (w Way) At(at time.Duration) Key {
	h := uint64(at) * 0x9e3779b97f4a7c15 // 2^64 over the golden ratio
	return Key(w.key ^ (h^h>>32)&(laneWay-1))
}
