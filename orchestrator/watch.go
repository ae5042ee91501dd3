package orchestrator

import (
	"slices"
	"sync"
	"time"

	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// Point names one point of a run while it is going on.
type Point struct {
	results.Coord
	Number int           // from 1
	Of     int           // points in all
	Flows  int           // in its trace
	Lasts  time.Duration // wall time of the starts of its trace; zero in virtual time
	After  time.Duration // the same for all the points that follow
}

// Watcher is told how a run goes on. Its methods are called one at a time; in
// virtual time several points may be going on.
type Watcher interface {
	// Note is something that the user should know.
	Note(text string)
	// Begin starts a point.
	Begin(p Point)
	// Progress is called several times a second while the point runs.
	Progress(p Point, s backend.Progress)
	// End is called with what the point measured.
	End(p Point, measured results.Point)
}

// publisher is a watcher that looks at points as they go on, and lets those see,
// too, who look at the run's folder. Points that go on at once may call it at once;
// the watcher that it tells is called by one at a time.
type publisher struct {
	Watcher
	mu      sync.Mutex
	publish func(results.Live) error // nil once it has failed, or a look has
	blind   bool                     // a look has failed
	now     func() time.Time
	live    results.Live
	looked  map[int]time.Time // when each point, by its number, was last looked at
}

var _ Watcher = (*publisher)(nil)

// publishEvery is the wall time between two states that are published, and
// between two looks at a point.
const publishEvery = time.Second

func newPublisher(w Watcher, publish func(results.Live) error) *publisher {
	return &publisher{Watcher: w, publish: publish, now: time.Now, looked: make(map[int]time.Time)}
}

// Begin passes on.
func (p *publisher) Begin(named Point) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Watcher.Begin(named)
	p.live.Of = named.Of
	p.live.Points = append(p.live.Points, results.LivePoint{
		Coord: named.Coord, Number: named.Number, Flows: named.Flows,
	})
	p.show()
}

// Progress looks at the point now and then, and passes on what it found.
func (p *publisher) Progress(named Point, s backend.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	point := p.point(named)
	point.Completed, point.Failed = s.Completed, s.Failed
	p.look(point, s.Look)
	s.Last = point.Seen
	p.Watcher.Progress(named, s)
	p.show()
}

// look looks at a point unless it did so a moment ago.
func (p *publisher) look(point *results.LivePoint, look func() (results.Seen, error)) {
	now := p.now()
	if look == nil || p.blind || now.Sub(p.looked[point.Number]) < publishEvery {
		return
	}
	p.looked[point.Number] = now
	seen, err := look()
	if err != nil {
		p.blind = true
		p.fail(err)
		return
	}
	point.Seen = seen
}

// End passes on.
func (p *publisher) End(named Point, measured results.Point) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.Watcher.End(named, measured)
	point := p.point(named)
	point.Seen = results.See(measured.Flows, nil)
	point.Completed, point.Done = int64(point.FCT[results.All].Count), true
	point.Failed = int64(len(measured.Flows)) - point.Completed
	p.show()
}

func (p *publisher) point(named Point) *results.LivePoint {
	i := slices.IndexFunc(p.live.Points, func(l results.LivePoint) bool { return l.Number == named.Number })
	return &p.live.Points[i]
}

// show publishes the state unless it did so a moment ago.
func (p *publisher) show() {
	now := p.now()
	if p.publish == nil || now.Sub(p.live.At) < publishEvery {
		return
	}
	p.live.At = now.UTC()
	if err := p.publish(p.live); err != nil {
		p.fail(err)
	}
}

// fail gives up: a run is worth more than the sight of it.
func (p *publisher) fail(err error) {
	p.publish = nil
	p.Note("warning: nobody can watch this run any more: " + err.Error())
}
