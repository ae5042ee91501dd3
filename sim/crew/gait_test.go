package crew

import (
	"testing"
	"time"
)

// TestFasterWay: of a second of work, nearly all is done the faster way, also when that
// changes on the way.
func TestFasterWay(t *testing.T) {
	const events = 1000 // of one job
	for what, c := range map[string]struct{ together, alone, after time.Duration }{
		"cores that help":           {500 * time.Microsecond, 900 * time.Microsecond, 0},
		"cores far apart":           {900 * time.Microsecond, 700 * time.Microsecond, 0},
		"another program all along": {5 * time.Millisecond, 800 * time.Microsecond, 0},
		"another program, later":    {500 * time.Microsecond, 900 * time.Microsecond, 10 * time.Millisecond},
	} {
		g := newGait()
		var spent, least time.Duration
		for spent < time.Second {
			took := c.together
			if c.after > 0 && spent > time.Second/2 {
				took = c.after
			}
			best := min(took, c.alone)
			if g.alone {
				took = c.alone
			}
			g.tell(events, took)
			spent, least = spent+took, least+best
		}
		if spent > least*11/10 && c.after == 0 || spent > least*2 {
			t.Errorf("%s: %v where %v are enough", what, spent, least)
		}
	}
}
