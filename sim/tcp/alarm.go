package tcp

import (
	"time"

	"aqmlab/event"
)

// alarm is a timer that is put off far more often than it rings. Putting it off
// and stopping it touch no heap: the timer below runs out at the time first
// set, and only then looks for when it should have.
type alarm struct {
	loop  *event.Loop
	timer *event.Timer
	set   bool
	due   time.Duration
}

func newAlarm(loop *event.Loop, ring func(now time.Duration)) *alarm {
	a := &alarm{loop: loop}
	a.timer = event.NewTimer(func(now time.Duration) {
		switch {
		case !a.set:
		case now < a.due:
			a.loop.Schedule(a.timer, a.due)
		default:
			a.set = false
			ring(now)
		}
	})
	return a
}

// start sets the alarm, or moves it.
func (a *alarm) start(due time.Duration) {
	a.set, a.due = true, due
	if !a.timer.Pending() || a.timer.At() > due {
		a.loop.Schedule(a.timer, due)
	}
}

func (a *alarm) stop() { a.set = false }

// remove stops the alarm and takes its timer off the loop.
func (a *alarm) remove() {
	a.set = false
	a.loop.Cancel(a.timer)
}
