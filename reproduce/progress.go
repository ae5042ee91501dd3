package reproduce

import (
	"fmt"
	"sync"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// reportInterval is the time between two reports while no point ends.
const reportInterval = 15 * time.Second

// enoughDone is the share of the work from which on the time that it took says more
// of what is left than the estimate.
const enoughDone = 0.02

// Progress is how far a plan has come.
type Progress struct {
	Points int // that are done
	Of     int
	Left   time.Duration // about
	Just   string        // what has just been done, or what there is to note
}

// meter adds up how far the jobs have come. The time that is left follows from the
// time that the work so far has taken, so the speed of the machine is included.
type meter struct {
	mu     sync.Mutex
	watch  func(Progress)
	jobs   []job
	shares []float64 // of each job, that is done
	done   int       // points
	of     int
	takes  time.Duration // as estimated
	begun  time.Time
	last   time.Time // report
	noted  map[string]bool
	now    func() time.Time
	quiet  bool // notes are not passed on
}

func newMeter(t Todo, watch func(Progress)) *meter {
	m := &meter{watch: watch, jobs: t.jobs, shares: make([]float64, len(t.jobs)), of: t.Points, takes: t.Takes, noted: make(map[string]bool), now: time.Now}
	m.begun, m.last = m.now(), m.now()
	return m
}

// left is the time that the jobs still take.
func (m *meter) left() time.Duration {
	done, all := 0.0, 0.0
	for i, j := range m.jobs {
		all += j.cost
		done += j.cost * m.shares[i]
	}
	spent := m.now().Sub(m.begun)
	if done <= enoughDone*all {
		return max(0, m.takes-spent)
	}
	return time.Duration(float64(spent) * (all - done) / done)
}

func (m *meter) report(just string) {
	m.last = m.now()
	m.watch(Progress{Points: m.done, Of: m.of, Left: m.left(), Just: just})
}

// watcher is told how a job goes on.
func (m *meter) watcher(i int) orchestrator.Watcher { return &jobWatcher{meter: m, job: i} }

type jobWatcher struct {
	*meter
	job   int
	ended int // points of the job
	begun time.Time
}

var _ orchestrator.Watcher = (*jobWatcher)(nil)

// experiment is that of the job.
func (w *jobWatcher) experiment() *experiment { return w.jobs[w.job].points[0].experiment }

// Note passes on a text that no job of the experiment has noted before.
func (w *jobWatcher) Note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text = fmt.Sprintf("%s: %s", w.experiment(), text)
	if !w.quiet && !w.noted[text] {
		w.noted[text] = true
		w.report(text)
	}
}

// Begin notes the time.
func (w *jobWatcher) Begin(orchestrator.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = w.now()
}

// Progress takes a point's share.
func (w *jobWatcher) Progress(p orchestrator.Point, s backend.Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	within := float64(s.Completed+s.Failed) / float64(max(1, p.Flows))
	w.shares[w.job] = (float64(w.ended) + within) / float64(p.Of)
	if w.now().Sub(w.last) >= reportInterval {
		w.report("")
	}
}

// End counts the point.
func (w *jobWatcher) End(p orchestrator.Point, measured results.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended++
	w.done++
	w.shares[w.job] = float64(w.ended) / float64(p.Of)
	text := fmt.Sprintf("%s %v: done in %v", w.experiment(), p.Coord, w.now().Sub(w.begun).Round(100*time.Millisecond))
	for _, why := range measured.Fidelity.Reasons {
		text += "; low fidelity: " + why
	}
	w.report(text)
}
