package reproduce

import (
	"fmt"
	"sync"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// every is the time between two reports while nothing ends.
const every = 15 * time.Second

// known is the share of the work from which on what it took says more of what is
// left than the estimate.
const known = 0.02

// meter adds up how far the cells have come. What is left follows from what the
// work so far has taken, so it is right whatever the machine.
type meter struct {
	mu     sync.Mutex
	watch  func(Progress)
	cells  []cell
	shares []float64 // of each cell, that is done
	done   int       // points
	of     int
	takes  time.Duration // as estimated
	begun  time.Time
	said   time.Time
	noted  map[string]bool
	now    func() time.Time
	quiet  bool // notes are not passed on
}

func newMeter(t Todo, watch func(Progress)) *meter {
	m := &meter{watch: watch, cells: t.cells, shares: make([]float64, len(t.cells)), of: t.Points, takes: t.Takes, noted: make(map[string]bool), now: time.Now}
	m.begun, m.said = m.now(), m.now()
	return m
}

// left is the time that the cells still take.
func (m *meter) left() time.Duration {
	done, all := 0.0, 0.0
	for i, c := range m.cells {
		all += c.cost
		done += c.cost * m.shares[i]
	}
	spent := m.now().Sub(m.begun)
	if done <= known*all {
		return max(0, m.takes-spent)
	}
	return time.Duration(float64(spent) * (all - done) / done)
}

func (m *meter) say(just string) {
	m.said = m.now()
	m.watch(Progress{Points: m.done, Of: m.of, Left: m.left(), Just: just})
}

// watcher is told how a cell goes on.
func (m *meter) watcher(i int) orchestrator.Watcher { return &cellWatcher{meter: m, cell: i} }

type cellWatcher struct {
	*meter
	cell  int
	ended int // points of the cell
	begun time.Time
}

var _ orchestrator.Watcher = (*cellWatcher)(nil)

// Note passes on what was not said before.
func (w *cellWatcher) Note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	key := w.cells[w.cell].jobs[0].study.String() + text
	if !w.quiet && !w.noted[key] {
		w.noted[key] = true
		w.say(w.cells[w.cell].jobs[0].study.String() + ": " + text)
	}
}

// Begin notes the time.
func (w *cellWatcher) Begin(orchestrator.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = w.now()
}

// Progress takes a point's share.
func (w *cellWatcher) Progress(p orchestrator.Point, s backend.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	within := float64(s.Completed+s.Failed) / float64(max(1, p.Flows))
	w.shares[w.cell] = (float64(w.ended) + within) / float64(p.Of)
	if w.now().Sub(w.said) >= every {
		w.say("")
	}
}

// End counts the point.
func (w *cellWatcher) End(p orchestrator.Point, measured results.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended++
	w.done++
	w.shares[w.cell] = float64(w.ended) / float64(p.Of)
	text := fmt.Sprintf("%s %v: done in %v", w.cells[w.cell].jobs[0].study, p.Coord, w.now().Sub(w.begun).Round(100*time.Millisecond))
	for _, why := range measured.Fidelity.Reasons {
		text += "; low fidelity: " + why
	}
	w.say(text)
}

// thisVersion is the revision that this program was built from.
func thisVersion() string {
	_, revision := results.ThisBuild()
	return revision
}
