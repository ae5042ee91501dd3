package event

import "time"

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
