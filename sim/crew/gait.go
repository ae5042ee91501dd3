package crew

import "time"

// gait says whether the loops of a crew run side by side, or one after another on the
// caller's core. That is faster where cores take long to meet, or are wanted by others.
// Nothing but the time that a run takes depends on it. So it tries both, keeps to the
// faster one, and tries the other one again now and then.
type gait struct {
	alone   bool          // one after another
	trial   bool          // of what was slower
	stretch time.Duration // until the next choice
	spent   time.Duration // in the stretch so far
	events  int64         // that ran in it
	pace    [2]float64    // events per nanosecond side by side, and alone, when last tried
}

// A trial takes so long, and what is clearly faster is kept to for a while.
const (
	trial   = 5 * time.Millisecond
	while   = 200 * time.Millisecond
	clearly = 1.05 // times as many events: less may be by chance
)

// newGait begins side by side, for longer than a trial: caches are cold at first.
func newGait() gait { return gait{stretch: 4 * trial} }

// tell is told how many events ran, and how long they took.
func (g *gait) tell(events int64, took time.Duration) {
	g.events, g.spent = g.events+events, g.spent+took
	if g.spent < g.stretch {
		return
	}
	g.pace[g.index()] = float64(g.events) / float64(g.spent)
	g.events, g.spent = 0, 0
	if g.trial = !g.trial; g.trial {
		g.alone, g.stretch = !g.alone, trial
		return
	}
	if tried := g.index(); g.pace[tried] < clearly*g.pace[1-tried] {
		g.alone = !g.alone
	}
	g.stretch = while
}

// index is that of the present way in pace.
func (g *gait) index() int {
	if g.alone {
		return 1
	}
	return 0
}
