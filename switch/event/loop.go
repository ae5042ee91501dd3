package event

import "time"

// Loop runs timers in the order of (time, key), see [Lane]. It is not safe for
// concurrent use: one goroutine owns a loop and all that stands on it. The zero
// Loop is at lab time zero.
type Loop struct {
	now     time.Duration
	own     Lane
	stopped bool // the run under way ends with the present event
	queue   queue
}

// Now is the lab time of the event being run, or of the last one that ran.
func (l *Loop) Now() time.Duration { return l.now }

// Schedule arms t for the lab time at, moving it if it is pending. A time in
// the past is taken as now: lab time never runs backwards.
func (l *Loop) Schedule(t *Timer, at time.Duration) { l.ScheduleBy(l.own.next(), t, at) }

// ScheduleBy arms t as [Loop.Schedule] does, with that place among the events of the
// same instant.
func (l *Loop) ScheduleBy(key Key, t *Timer, at time.Duration) {
	if t.key != 0 {
		l.Cancel(t)
	}
	t.at, t.key = max(at, l.now), key
	l.queue.place(l.now, entry{t.at, t.key, t})
}

// Cancel disarms t. Cancelling a timer that is not pending does nothing.
func (l *Loop) Cancel(t *Timer) {
	if t.key == 0 {
		return
	}
	l.queue.cancel(t)
	t.key = 0
}

// Next is the lab time of the earliest pending event.
func (l *Loop) Next() (at time.Duration, ok bool) { return l.queue.first() }

// RunUntil runs every event that is due at or before the lab time until, those
// that they schedule included, and leaves the loop at until.
func (l *Loop) RunUntil(until time.Duration) {
	for l.step(until) {
	}
	l.now = max(l.now, until)
}

// Step runs the earliest event and reports whether there was one.
func (l *Loop) Step() bool { return l.step(forever) }

// Run runs so many of the earliest events, if there are as many that are due at or before
// the lab time until, and returns how many ran. The event that calls [Loop.Stop] is the
// last one.
func (l *Loop) Run(until time.Duration, most int) (ran int) {
	for l.stopped = false; ran < most && !l.stopped && l.step(until); {
		ran++
	}
	return ran
}

// Advance moves the loop on to a lab time. No event may be pending before it.
func (l *Loop) Advance(to time.Duration) { l.now = max(l.now, to) }

// Stop has the present event be the last one of [Loop.Run].
func (l *Loop) Stop() { l.stopped = true }

// Stopped tells whether an event of the last run called [Loop.Stop].
func (l *Loop) Stopped() bool { return l.stopped }

// step runs the earliest event that is due at or before until.
func (l *Loop) step(until time.Duration) bool {
	t := l.queue.pop(until)
	if t == nil {
		return false
	}
	l.now, t.key = t.at, 0
	t.action.Fire(t.at)
	return true
}
