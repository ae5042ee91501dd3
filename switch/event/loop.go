package event

import "time"

// Loop runs timers in the order of (time, sequence). It is not safe for
// concurrent use: one goroutine owns a loop and all that stands on it. The zero
// Loop is at lab time zero.
type Loop struct {
	now     time.Duration
	seq     uint64
	stopped bool // the run under way ends with the present event
	queue   queue
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
	l.queue.place(l.now, entry{t.at, t.seq, t})
}

// Cancel disarms t. Cancelling a timer that is not pending does nothing.
func (l *Loop) Cancel(t *Timer) {
	if t.seq == 0 {
		return
	}
	l.queue.cancel(t)
	t.seq = 0
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

// Run runs so many of the earliest events, if there are as many, and returns how many
// ran. The event that calls [Loop.Stop] is the last one.
func (l *Loop) Run(most int) (ran int) {
	for l.stopped = false; ran < most && !l.stopped && l.step(forever); {
		ran++
	}
	return ran
}

// Stop has the present event be the last one of [Loop.Run].
func (l *Loop) Stop() { l.stopped = true }

// step runs the earliest event that is due at or before until.
func (l *Loop) step(until time.Duration) bool {
	t := l.queue.pop(until)
	if t == nil {
		return false
	}
	l.now, t.seq = t.at, 0
	t.action.Fire(t.at)
	return true
}
