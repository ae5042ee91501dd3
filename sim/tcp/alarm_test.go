package tcp

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/event"
)

// TestAlarm: it rings once, when it was last set to, however that moved.
func TestAlarm(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(a *alarm)
		want []time.Duration
	}{
		"once":        {func(a *alarm) { a.start(5) }, []time.Duration{5}},
		"put off":     {func(a *alarm) { a.start(5); a.start(8); a.start(9) }, []time.Duration{9}},
		"earlier":     {func(a *alarm) { a.start(9); a.start(5) }, []time.Duration{5}},
		"stopped":     {func(a *alarm) { a.start(5); a.stop() }, nil},
		"set anew":    {func(a *alarm) { a.start(5); a.stop(); a.start(7) }, []time.Duration{7}},
		"removed":     {func(a *alarm) { a.start(5); a.remove() }, nil},
		"and set":     {func(a *alarm) { a.start(5); a.remove(); a.start(6) }, []time.Duration{6}},
		"set earlier": {func(a *alarm) { a.start(9); a.stop(); a.start(3) }, []time.Duration{3}},
	} {
		var loop event.Loop
		var rang []time.Duration
		var a alarm
		a.init(&loop, func(now time.Duration) { rang = append(rang, now) })
		tt.do(&a)
		loop.RunUntil(20)
		if !slices.Equal(rang, tt.want) || a.set {
			t.Errorf("%s: rang at %v, want %v", name, rang, tt.want)
		}
	}
}
