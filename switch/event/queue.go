package event

import "time"

// queue holds the events that are pending. Those that are due soon stand in a calendar,
// which costs little, and the others in a wheel, which reaches all times. When the time
// of the first one there has come, it moves to the calendar.
type queue struct {
	near  calendar
	far   wheel
	then  time.Duration // nothing in far is due before; only while something is there
	count uint          // entries that were placed
}

// place adds an entry that is not before now.
func (q *queue) place(now time.Duration, e entry) {
	if q.count%period == 0 {
		q.fit(now)
	}
	q.count++
	q.put(now, e)
}

func (q *queue) put(now time.Duration, e entry) {
	if q.near.holds(e.at) {
		q.near.place(e)
		return
	}
	switch {
	case q.far.count == 0:
		q.far.base, q.then = now, e.at // cancelled events may have moved the base ahead
	case e.at < q.then:
		q.then = e.at
	}
	q.far.place(e)
}

// fit has the calendar suit what is scheduled.
func (q *queue) fit(now time.Duration) {
	c := &q.near
	slots, shift := c.fit()
	if slots == len(c.slots) && shift == c.shift {
		return
	}
	for _, e := range c.resize(now, slots, shift) {
		q.put(now, e)
	}
	c.beyond, c.reach, c.walked = 0, 0, 0
}

// pop takes out the timer that is due first, unless that is behind until. It returns nil
// when there is none.
func (q *queue) pop(until time.Duration) *Timer {
	for {
		if c := &q.near; c.count > 0 {
			s := c.first()
			if e := &c.slots[s]; q.far.count == 0 || e.at < q.then {
				if e.at > until {
					return nil
				}
				c.from = int64(e.at) >> (c.shift & 63)
				t := e.t
				c.drop(s)
				if c.count > large {
					c.prepare()
				}
				return t
			}
		}
		if q.far.count == 0 || q.then > until {
			return nil
		}
		q.draw()
	}
}

// draw moves what is due first in the wheel to the calendar, where nothing is due before
// that. Of what is due in one instant, some may have been placed here and some there: the
// calendar sorts it.
func (q *queue) draw() {
	e, ok := q.far.pop(q.then)
	if q.far.count > 0 {
		q.then = q.far.earliest()
	}
	if ok {
		q.near.from = int64(e.at) >> (q.near.shift & 63)
		q.near.place(e)
	}
}

// cancel forgets the entry that stands for a timer.
func (q *queue) cancel(t *Timer) {
	if !q.near.cancel(t) {
		t.key = 0
		q.far.forget()
	}
}

// first is the time of the earliest entry.
func (q *queue) first() (at time.Duration, ok bool) {
	if q.near.count > 0 {
		at, ok = q.near.slots[q.near.first()].at, true
	}
	for q.far.count > 0 && (!ok || q.then < at) {
		if then, live := q.far.first(); live {
			if q.then = then; !ok || then < at {
				at, ok = then, true
			}
			break
		}
	}
	return at, ok
}
