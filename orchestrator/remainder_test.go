package orchestrator

import (
	"testing"
	"time"
)

// TestRemainder: the rest takes as long as what is done did. Before that there may be an
// estimate, which soon gives way.
func TestRemainder(t *testing.T) {
	for _, c := range []struct {
		takes, spent time.Duration
		done         float64
		want         time.Duration
		known        bool
	}{
		{0, 10 * time.Second, 0, 0, false},
		{0, 10 * time.Second, 1, 990 * time.Second, true},
		{0, 10 * time.Second, 50, 10 * time.Second, true},
		{0, 10 * time.Second, 100, 0, true},
		{time.Minute, 0, 0, time.Minute, true},
		{time.Minute, 10 * time.Second, 1, 50 * time.Second, true},
		{time.Minute, time.Hour, 1, 0, true},
		{time.Minute, 10 * time.Second, 50, 10 * time.Second, true},
	} {
		now := time.Unix(1e9, 0)
		r := NewRemainder(func() time.Time { return now })
		r.Whole, r.Takes = 100, c.takes
		now = now.Add(c.spent)
		r.Done("a", c.done/2)
		r.Done("b", c.done)
		r.Done("b", c.done/2)
		if got, known := r.Left(); got.Round(time.Millisecond) != c.want || known != c.known {
			t.Errorf("%+v: %v, %v", c, got, known)
		}
	}
}
