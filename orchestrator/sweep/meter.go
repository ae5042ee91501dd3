package sweep

import (
	"fmt"
	"time"

	"aqmlab/orchestrator"
)

// Progress is how far a sweep or another list of units has come.
type Progress struct {
	Points int // that are done, measured or found stored meanwhile
	Failed int
	Of     int
	Left   time.Duration // about; negative: unknown
	Just   string        // what has just happened; empty now and then while nothing does
}

// reportInterval is the time between two reports while no unit ends.
const reportInterval = 15 * time.Second

// Meter adds up how far units have come, and how long the rest will take
// ([orchestrator.Remainder]).
type Meter struct {
	Takes time.Duration      // estimate of the whole; zero: there is none
	Label func(Unit) string  // names a unit for the user
	Quiet bool               // notes are not passed on
	Watch func(Progress)     // is told
	Now   func() time.Time   // nil: time.Now
	costs map[string]float64 // by key
	rest  *orchestrator.Remainder
	last  time.Time // report
	noted map[string]bool
	sum   Progress
}

// Begin takes the units that are to be measured.
func (m *Meter) Begin(units []Unit) {
	if m.Now == nil {
		m.Now = time.Now
	}
	m.costs, m.noted, m.rest = make(map[string]float64), make(map[string]bool), orchestrator.NewRemainder(m.Now)
	for _, u := range units {
		m.costs[u.Key] = max(u.Cost, 1e-9)
		m.rest.Whole += m.costs[u.Key]
	}
	m.last, m.sum = m.Now(), Progress{Of: len(units)}
}

// Take takes an event.
func (m *Meter) Take(e Event) {
	just, share := "", 1.0
	switch {
	case e.Note != "":
		if m.Quiet || m.noted[e.Note] {
			return
		}
		m.noted[e.Note] = true
		just = e.Note
	case e.Done:
		m.sum.Points++
		just = fmt.Sprintf("%s: done in %v", m.Label(e.Unit), e.Took.Round(100*time.Millisecond))
		if e.Took == 0 {
			just = fmt.Sprintf("%s: stored by another process", m.Label(e.Unit))
		}
		for _, why := range e.Low {
			just += "; low fidelity: " + why
		}
	case e.Err != nil:
		m.sum.Failed++
		just = fmt.Sprintf("%s: failed: %v", m.Label(e.Unit), e.Err)
	default:
		share = e.Share
	}
	if e.Note == "" {
		m.rest.Done(e.Key, m.costs[e.Key]*share)
	}
	if just != "" || m.Now().Sub(m.last) >= reportInterval {
		m.report(just)
	}
}

func (m *Meter) report(just string) {
	m.last = m.Now()
	m.rest.Takes = m.Takes
	left, known := m.rest.Left()
	if !known {
		left = -1
	}
	m.sum.Left, m.sum.Just = left, just
	m.Watch(m.sum)
}
