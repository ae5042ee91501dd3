package tcp

import (
	"time"

	"aqmlab/switch/event"
)

// alarm is a timer that is put off far more often than it rings. Putting it off
// and stopping it touch no heap: the timer below runs out at the time first
// set, and only then looks for when it should have.
type alarm struct {
	timer event.Timer
	due   time.Duration
	set   bool
	loop  *event.Loop
	ring  func(now time.Duration)
}

func (a *alarm) init(loop *event.Loop, ring func(now time.Duration)) {
	a.loop, a.ring = loop, ring
	a.timer.Does(a)
}

// Fire is when the timer runs out.
func (a *alarm) Fire(now time.Duration) {
	switch {
	case !a.set:
	case now < a.due:
		a.loop.Schedule(&a.timer, a.due)
	default:
		a.set = false
		a.ring(now)
	}
}

// start sets the alarm, or moves it.
func (a *alarm) start(due time.Duration) {
	a.set, a.due = true, due
	if !a.timer.Pending() || a.timer.At() > due {
		a.loop.Schedule(&a.timer, due)
	}
}

func (a *alarm) stop() { a.set = false }

// remove stops the alarm and takes its timer off the loop.
func (a *alarm) remove() {
	a.set = false
	a.loop.Cancel(&a.timer)
}
