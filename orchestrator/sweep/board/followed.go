package board

import (
	"time"

	"aqmlab/orchestrator/sweep"
	"aqmlab/results"
)

// followed is a sweep that was looked at before.
type followed struct {
	store   sweep.Store
	name    string
	sweep   *sweep.Sweep
	points  []sweep.Point // one a key
	written time.Time
	grid    grid
	stored  []time.Time // of each point; zero: it was not there yet
	failed  map[string]reason
}

// reason is why a point failed, as it was read from a file of that time.
type reason struct {
	text    string
	written time.Time
}

// maxReasons is how many failures are told with their reasons.
const maxReasons = 200

// status looks at the points that were not there before.
func (f *followed) status(now time.Time) (results.SweepStatus, error) {
	w := f.sweep
	s := results.SweepStatus{Name: f.name, Lab: w.Lab, Runtime: string(w.Runtime), Created: w.Created, Points: len(f.points)}
	if err := f.readFailed(); err != nil {
		return s, err
	}
	cells := f.grid.empty()
	since := now // when the first of the points that are being measured began
	for i, p := range f.points {
		state, begun := f.look(i)
		switch state {
		case results.CellStored:
			s.Stored++
		case results.CellMeasuring:
			s.Measuring++
			if begun.Before(since) {
				since = begun
			}
		case results.CellFailed:
			s.Failed++
			if len(s.Failures) < maxReasons {
				at := f.grid.cells[i]
				s.Failures = append(s.Failures, results.SweepFailure{Row: at.row, Column: at.column, Label: w.Label(p), Reason: f.failed[p.Key].text})
			}
		}
		f.grid.set(cells, i, state)
	}
	f.grid.show(&s, cells)
	if s.Measuring > 0 {
		s.Left = pace{w.Created, since, now}.left(f.stored, s.Points-s.Stored-s.Failed).Seconds()
	}
	return s, nil
}

// look is the state of a point, and since when it is being measured, if it is.
func (f *followed) look(i int) (state results.CellState, begun time.Time) {
	key := f.points[i].Key
	if f.stored[i].IsZero() {
		f.stored[i] = f.store.Stored(key)
	}
	if !f.stored[i].IsZero() {
		return results.CellStored, begun
	}
	if begun, is := f.store.Measuring(key); is {
		return results.CellMeasuring, begun
	}
	if _, failed := f.failed[key]; failed {
		return results.CellFailed, begun
	}
	return results.CellWaiting, begun
}

// readFailed reads which points failed, and those reasons that are new: a point that is
// tried again may fail for another.
func (f *followed) readFailed() error {
	failed, err := f.sweep.Failed()
	if err != nil {
		return err
	}
	now := make(map[string]reason)
	for key, at := range failed {
		r, known := f.failed[key]
		if !known || !r.written.Equal(at) {
			r = reason{f.reason(key), at}
		}
		now[key] = r
	}
	f.failed = now
	return nil
}

// reason reads why a point failed. That it did is known without.
func (f *followed) reason(key string) string {
	failure, err := f.sweep.Failure(key)
	switch {
	case err != nil:
		return err.Error()
	case failure == nil: // it is being tried again
		return ""
	}
	return failure.Reason
}
