package sweep

import (
	"slices"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// unitWatcher turns what a run of some units tells into events of these.
type unitWatcher struct {
	units   []Unit
	tell    func(Event)
	current *results.Coord // of the point that is going on, or was when the run failed
	begun   time.Time
	took    time.Duration
	ended   []results.Coord
}

var _ orchestrator.Watcher = (*unitWatcher)(nil)

func (w *unitWatcher) unit(at results.Coord) Unit {
	return w.units[slices.IndexFunc(w.units, func(u Unit) bool { return u.Coord == at })]
}

// Note passes on.
func (w *unitWatcher) Note(text string) { w.tell(Event{Unit: w.units[0], Note: text}) }

// Begin notes the time.
func (w *unitWatcher) Begin(p orchestrator.Point) {
	w.current, w.begun = &p.Coord, time.Now()
}

// Progress tells the share that is measured.
func (w *unitWatcher) Progress(p orchestrator.Point, s backend.Progress) {
	w.tell(Event{Unit: w.unit(p.Coord), Share: float64(s.Completed+s.Failed) / float64(max(1, p.Flows))})
}

// End notes the time. The point is there when it is stored.
func (w *unitWatcher) End(orchestrator.Point, results.Point) { w.took = time.Since(w.begun) }

// stored notes a point that is there.
func (w *unitWatcher) stored(p results.Point) {
	w.current = nil
	w.ended = append(w.ended, p.Coord)
	w.tell(Event{Unit: w.unit(p.Coord), Done: true, Took: w.took, Low: p.Fidelity.Reasons})
}
