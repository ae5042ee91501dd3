//go:build linux

package wire

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestUrgency: the loop runs before all others, but leaves them a share of each
// period in which it does not sleep.
func TestUrgency(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name  string
		slept time.Duration // by the time of each turn
		turns []time.Duration
		want  []bool // real-time, after each
	}{
		{"short", 0, []time.Duration{10 * ms, 89 * ms}, []bool{true, true}},
		{"busy", 0, []time.Duration{89 * ms, 90 * ms, 99 * ms, 100 * ms, 189 * ms, 190 * ms}, []bool{true, false, false, true, true, false}},
		{"sleeps enough", 10 * ms, []time.Duration{89 * ms, 99 * ms, 100 * ms}, []bool{true, true, true}},
		{"sleeps too little", 9 * ms, []time.Duration{98 * ms, 99 * ms, 100 * ms}, []bool{true, false, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u := urgency{set: func(bool) error { return nil }, slept: tt.slept}
			u.become(true)
			var got []bool
			for _, now := range tt.turns {
				u.turn(now)
				got = append(got, u.on)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("real-time %v, want %v", got, tt.want)
			}
		})
	}
	u := urgency{set: func(bool) error { return nil }}
	u.become(true)
	u.turn(1080 * ms) // the period begins with the machine's clock, not with the run
	if u.turn(1090 * ms); u.on {
		t.Error("real-time at the end of the machine's period")
	}
	tries := 0
	u = urgency{set: func(bool) error { tries++; return errors.New("no right to") }}
	u.become(true)
	u.turn(urgentPeriod)
	if tries != 1 || u.on || u.set != nil {
		t.Errorf("without the right: %d tries, %+v", tries, u)
	}
}
