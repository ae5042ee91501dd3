package sweep

import (
	"fmt"
	"time"
)

// Progress is how far a sweep or another list of units has come.
type Progress struct {
	Points int // that are done, measured or found stored meanwhile
	Failed int
	Of     int
	Left   time.Duration // about
	Just   string        // what has just happened; empty now and then while nothing does
}

const (
	// reportInterval is the time between two reports while no unit ends.
	reportInterval = 15 * time.Second
	// enoughDone is the share of the work from which on the time that it took says more
	// of what is left than an estimate.
	enoughDone = 0.02
)

// Meter adds up how far units have come. The time that is left follows from the time
// that the work so far has taken, so the speed of the machine is included.
type Meter struct {
	Takes time.Duration       // estimate of the whole
	Label func(Unit) string   // names a unit for the user
	Quiet bool                // notes are not passed on
	Watch func(Progress)      // is told
	Now   func() time.Time    // nil: time.Now
	state map[string]progress // by key
	begun time.Time
	last  time.Time // report
	noted map[string]bool
	sum   Progress
}

// progress is that of a unit.
type progress struct{ share, cost float64 }

// Begin takes the units that are to be measured.
func (m *Meter) Begin(units []Unit) {
	if m.Now == nil {
		m.Now = time.Now
	}
	m.state, m.noted = make(map[string]progress), make(map[string]bool)
	for _, u := range units {
		m.state[u.Key] = progress{cost: u.Cost}
	}
	m.begun, m.last, m.sum = m.Now(), m.Now(), Progress{Of: len(units)}
}

// Take takes an event.
func (m *Meter) Take(e Event) {
	at := m.state[e.Key]
	just := ""
	switch {
	case e.Note != "":
		if m.Quiet || m.noted[e.Note] {
			return
		}
		m.noted[e.Note] = true
		just = e.Note
	case e.Done:
		at.share = 1
		m.sum.Points++
		just = fmt.Sprintf("%s: done in %v", m.Label(e.Unit), e.Took.Round(100*time.Millisecond))
		if e.Took == 0 {
			just = fmt.Sprintf("%s: stored by another process", m.Label(e.Unit))
		}
		for _, why := range e.Low {
			just += "; low fidelity: " + why
		}
	case e.Err != nil:
		at.share = 1
		m.sum.Failed++
		just = fmt.Sprintf("%s: failed: %v", m.Label(e.Unit), e.Err)
	default:
		at.share = e.Share
	}
	m.state[e.Key] = at
	if just != "" || m.Now().Sub(m.last) >= reportInterval {
		m.report(just)
	}
}

func (m *Meter) report(just string) {
	m.last = m.Now()
	m.sum.Left, m.sum.Just = m.left(), just
	m.Watch(m.sum)
}

// left is the time that the units still take.
func (m *Meter) left() time.Duration {
	done, all := 0.0, 0.0
	for _, u := range m.state {
		cost := max(u.cost, 1e-9)
		all += cost
		done += cost * u.share
	}
	spent := m.Now().Sub(m.begun)
	if done <= enoughDone*all {
		return max(0, m.Takes-spent)
	}
	return time.Duration(float64(spent) * (all - done) / done)
}
