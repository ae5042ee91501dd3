// Package event is the deterministic event queue that drives a network in lab
// time, from event to event in virtual time or slaved to the wall clock.
//
// Events are ordered by time; events of one instant run in the order in which
// they were scheduled. Nothing here reads a clock, allocates per event, or
// starts a goroutine: a component owns its timers and re-arms them.
package event

import "time"

// Action is what a timer does when it is due. Fire is called with the timer's
// own due time, which is the loop's time at that moment.
type Action interface{ Fire(now time.Duration) }

// call makes an action of a function.
type call func(now time.Duration)

func (f call) Fire(now time.Duration) { f(now) }

// Timer is one component's pending event. A component embeds or holds its
// timers and schedules them on a [Loop]; a timer is pending at most once.
// The zero value of everything but the action is ready to use.
type Timer struct {
	action Action
	at     time.Duration
	seq    uint64 // of the entry that stands for it in the loop; zero when not pending
}

// NewTimer returns a timer that calls fire, with the timer's due time, when it
// is due.
func NewTimer(fire func(now time.Duration)) *Timer { return &Timer{action: call(fire)} }

// Does sets what t does, for a timer that is part of its component: to run it
// then touches nothing besides.
func (t *Timer) Does(a Action) { t.action = a }

// Pending tells whether the timer is scheduled.
func (t *Timer) Pending() bool { return t.seq != 0 }

// At is the lab time for which the timer is, or was last, scheduled.
func (t *Timer) At() time.Duration { return t.at }

// Loop runs timers in the order of (time, sequence). It is not safe for
// concurrent use: one goroutine owns a loop and all that stands on it. The zero
// Loop is at lab time zero.
type Loop struct {
	now   time.Duration
	seq   uint64
	wheel wheel
}

// Now is the lab time of the event being run, or of the last one that ran.
func (l *Loop) Now() time.Duration { return l.now }

// Schedule arms t for the lab time at, moving it if it is pending. A time in
// the past is taken as now: lab time never runs backwards.
func (l *Loop) Schedule(t *Timer, at time.Duration) {
	if t.seq != 0 {
		l.Cancel(t)
	}
	l.seq++
	t.at, t.seq = max(at, l.now), l.seq
	l.wheel.place(entry{t.at, t.seq, t})
}

// Cancel disarms t. Cancelling a timer that is not pending does nothing.
func (l *Loop) Cancel(t *Timer) {
	if t.seq == 0 {
		return
	}
	t.seq = 0
	l.wheel.forget()
}

// Next is the lab time of the earliest pending event.
func (l *Loop) Next() (at time.Duration, ok bool) {
	for l.wheel.count > 0 {
		if at, ok = l.wheel.first(); ok {
			return at, true
		}
	}
	return 0, false
}

// RunUntil runs every event that is due at or before the lab time until, those
// that they schedule included, and leaves the loop at until.
func (l *Loop) RunUntil(until time.Duration) {
	for l.step(until) {
	}
	l.now = max(l.now, until)
}

// Step runs the earliest event and reports whether there was one.
func (l *Loop) Step() bool { return l.step(forever) }

// forever is the last lab time that there is.
const forever time.Duration = 1<<63 - 1

// step runs the earliest event that is due at or before until.
func (l *Loop) step(until time.Duration) bool {
	e, ok := l.wheel.pop(until)
	if !ok {
		if l.wheel.count == 0 {
			l.wheel.base = l.now // cancelled events may have moved it ahead
		}
		return false
	}
	l.now, e.t.seq = e.at, 0
	e.t.action.Fire(e.at)
	return true
}
