package board

import (
	"slices"
	"testing"
	"time"
)

// TestPace: points that take a minute each take as long for the rest, whatever pauses
// there were.
func TestPace(t *testing.T) {
	created := time.Unix(1e9, 0)
	minutes := func(n int) time.Time { return created.Add(time.Duration(n) * time.Minute) }
	var steady, paused []time.Time
	for i := range 100 {
		steady = append(steady, minutes(i+1))
		paused = append(paused, minutes(i+1+i/50*5000))
	}
	for name, c := range map[string]struct {
		stored     []time.Time
		since, now time.Time
		want       time.Duration
	}{
		"none":             {nil, minutes(0), minutes(3), 0},
		"another sweep's":  {[]time.Time{minutes(-9)}, minutes(0), minutes(3), 0},
		"steady":           {append(slices.Clone(steady), time.Time{}), minutes(100), minutes(100), 20 * time.Minute},
		"with a pause":     {paused, minutes(5100), minutes(5100), 20 * time.Minute},
		"just taken up":    {steady, minutes(9000), minutes(9000), 20 * time.Minute},
		"it takes so long": {steady[:1], minutes(1), minutes(2), 40 * time.Minute},
	} {
		got := pace{created, c.since, c.now}.left(c.stored, 20)
		if got < c.want*98/100 || got > c.want*102/100 {
			t.Errorf("%s: %v, want about %v", name, got, c.want)
		}
	}
}
