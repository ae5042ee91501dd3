// Package event is the deterministic event queue that drives a network in lab
// time, from event to event in virtual time or slaved to the wall clock.
//
// Events are ordered by time; events of one instant run in the order in which
// they were scheduled. Nothing here reads a clock, allocates per event, or
// starts a goroutine: a component owns its timers and re-arms them.
package event

import "time"

// Timer is one component's pending event. A component embeds or holds its
// timers and schedules them on a [Loop]; a timer is pending at most once.
// The zero value of everything but the action is ready to use.
type Timer struct {
	fire func(now time.Duration)
	at   time.Duration
	seq  uint64
	slot int // position in the heap plus one; zero when not pending
}

// NewTimer returns a timer that runs fire when it is due. fire is called with
// the timer's own due time, which is the loop's time at that moment.
func NewTimer(fire func(now time.Duration)) *Timer { return &Timer{fire: fire} }

// Pending tells whether the timer is scheduled.
func (t *Timer) Pending() bool { return t.slot != 0 }

// At is the lab time for which the timer is, or was last, scheduled.
func (t *Timer) At() time.Duration { return t.at }

// Loop runs timers in the order of (time, sequence). It is not safe for
// concurrent use: one goroutine owns a loop and all that stands on it.
type Loop struct {
	now  time.Duration
	seq  uint64
	heap []entry
	// hole says that the root of the heap is the event being run, which has left
	// it but for its place: the first event that it schedules takes that, and most
	// schedule one. As no event is earlier, the heap is in order meanwhile.
	hole bool
}

// entry keeps the key beside the pointer, so that sifting touches no timer.
type entry struct {
	at  time.Duration
	seq uint64
	t   *Timer
}

// Now is the lab time of the event being run, or of the last one that ran.
func (l *Loop) Now() time.Duration { return l.now }

// Schedule arms t for the lab time at, moving it if it is pending. A time in
// the past is taken as now: lab time never runs backwards.
func (l *Loop) Schedule(t *Timer, at time.Duration) {
	l.seq++
	t.at, t.seq = max(at, l.now), l.seq
	e := entry{t.at, t.seq, t}
	switch {
	case t.slot == 0 && l.hole:
		l.hole = false
		l.down(0, e)
		return
	case t.slot == 0:
		l.heap = append(l.heap, e)
		t.slot = len(l.heap)
		l.up(len(l.heap)-1, e)
		return
	}
	i := t.slot - 1
	l.heap[i] = e
	if !l.up(i, e) {
		l.down(i, e)
	}
}

// Cancel disarms t. Cancelling a timer that is not pending does nothing.
func (l *Loop) Cancel(t *Timer) {
	if t.slot == 0 {
		return
	}
	l.remove(t.slot - 1)
}

// Next is the lab time of the earliest pending event.
func (l *Loop) Next() (at time.Duration, ok bool) {
	l.fill()
	if len(l.heap) == 0 {
		return 0, false
	}
	return l.heap[0].at, true
}

// RunUntil runs every event that is due at or before the lab time until, those
// that they schedule included, and leaves the loop at until.
func (l *Loop) RunUntil(until time.Duration) {
	for len(l.heap) > 0 && l.heap[0].at <= until {
		l.step()
	}
	l.now = max(l.now, until)
}

// Step runs the earliest event and reports whether there was one.
func (l *Loop) Step() bool {
	if len(l.heap) == 0 {
		return false
	}
	l.step()
	return true
}

func (l *Loop) step() {
	e := l.heap[0]
	e.t.slot = 0
	l.now, l.hole = e.at, true
	e.t.fire(e.at)
	l.fill()
}

// fill closes the hole at the root, if there is one.
func (l *Loop) fill() {
	if l.hole {
		l.hole = false
		l.remove(0)
	}
}

func (e entry) before(o entry) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// remove takes out the entry at i and closes the gap with the last one.
func (l *Loop) remove(i int) {
	l.heap[i].t.slot = 0
	n := len(l.heap) - 1
	last := l.heap[n]
	l.heap[n] = entry{}
	l.heap = l.heap[:n]
	if i == n {
		return
	}
	l.heap[i] = last
	if !l.up(i, last) {
		l.down(i, last)
	}
}

// The heap is 4-ary: half as deep as a binary one, and the four children of an
// entry share two cache lines.

func (l *Loop) up(i int, e entry) (moved bool) {
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(l.heap[parent]) {
			break
		}
		l.put(i, l.heap[parent])
		i, moved = parent, true
	}
	l.put(i, e)
	return moved
}

func (l *Loop) down(i int, e entry) {
	for {
		least, first := e, 4*i+1
		at := i
		for c := first; c < min(first+4, len(l.heap)); c++ {
			if l.heap[c].before(least) {
				least, at = l.heap[c], c
			}
		}
		if at == i {
			break
		}
		l.put(i, least)
		i = at
	}
	l.put(i, e)
}

func (l *Loop) put(i int, e entry) {
	l.heap[i] = e
	e.t.slot = i + 1
}
