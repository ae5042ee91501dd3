// Package event is the deterministic event queue that drives a network in lab
// time, from event to event in virtual time or slaved to the wall clock.
//
// Events are ordered by time, and those of one instant as [Lane] says. On one lane they
// run in the order in which they were scheduled. Nothing here reads a clock, allocates per event, or
// starts a goroutine: a component owns its timers and re-arms them.
package event

import "time"

// Action is what a timer does when it is due. Fire is called with the timer's
// own due time, which is the loop's time at that moment. Near may be called some events
// before that: it may [Prefetch] what Fire will read, and must change nothing.
type Action interface {
	Fire(now time.Duration)
	Near()
}

// call makes an action of a function.
type call func(now time.Duration)

func (f call) Fire(now time.Duration) { f(now) }
func (call) Near()                    {}

// Timer is one component's pending event. A component embeds or holds its
// timers and schedules them on a [Loop]; a timer is pending at most once.
// The zero value of everything but the action is ready to use.
type Timer struct {
	action Action
	at     time.Duration
	key    Key // of the entry that stands for it in the loop; zero when not pending
}

// NewTimer returns a timer that calls fire, with the timer's due time, when it
// is due.
func NewTimer(fire func(now time.Duration)) *Timer { return &Timer{action: call(fire)} }

// Does sets what t does, for a timer that is part of its component: to run it
// then touches nothing besides.
func (t *Timer) Does(a Action) { t.action = a }

// Pending tells whether the timer is scheduled.
func (t *Timer) Pending() bool { return t.key != 0 }

// At is the lab time for which the timer is, or was last, scheduled.
func (t *Timer) At() time.Duration { return t.at }
