package orchestrator

import "time"

// Remainder estimates how long some work still takes from the time that the part of it
// that is done has taken. So the speed of the machine is included.
type Remainder struct {
	Whole float64       // all the work, in any unit
	Takes time.Duration // an estimate of the whole, for as long as hardly anything is done; zero: there is none
	now   func() time.Time
	begun time.Time
	done  map[any]float64 // of each part
}

// NewRemainder is for work that begins now.
func NewRemainder(now func() time.Time) *Remainder {
	return &Remainder{now: now, begun: now(), done: make(map[any]float64)}
}

// Done notes how much of a part of the work is done by now.
func (r *Remainder) Done(part any, work float64) { r.done[part] = work }

// enoughDone is the share of the work from which on the time that it took says more of
// what is left than an estimate.
const enoughDone = 0.02

// Left is the time that the rest takes, and whether anything is known of it.
func (r *Remainder) Left() (left time.Duration, known bool) {
	done := 0.0
	for _, work := range r.done {
		done += work
	}
	spent := r.now().Sub(r.begun)
	if r.Takes > 0 && done <= enoughDone*r.Whole {
		return max(0, r.Takes-spent), true
	}
	if done <= 0 {
		return 0, false
	}
	return time.Duration(float64(spent) * max(0, r.Whole-done) / done), true
}
