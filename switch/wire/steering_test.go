//go:build linux

package wire

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// TestSteering: frames that come alone are received on the loop's CPU; traffic is handed
// over until there is a pause, so that no frame overtakes another.
func TestSteering(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	every := func(gap time.Duration, frames int) []time.Duration {
		return slices.Repeat([]time.Duration{gap}, frames)
	}
	for _, tt := range []struct {
		name string
		gaps []time.Duration // before each frame
		near []bool          // that were chosen, in turn
	}{
		{"the first frame", every(0, 1), []bool{true}},
		{"a frame a millisecond", every(ms, 100), []bool{true}},
		{"a handshake and a request, again and again", slices.Repeat(append(every(20*us, 4), ms), 50), []bool{true}},
		{"line rate of 1 Gbps", every(12*us, 1000), []bool{true, false}},
		{"a burst, and frames too soon after it to be sure", append(every(us, 100), every(9*ms, 100)...), []bool{true, false}},
		{"two bursts", slices.Concat(every(us, 100), every(10*ms, 1), every(us, 100)), []bool{true, false, true, false}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []bool
			s := steering{set: func(near bool) error { got = append(got, near); return nil }}
			s.begin()
			now := 5 * us
			for _, gap := range tt.gaps {
				now += gap
				s.sending(now)
			}
			if !slices.Equal(got, tt.near) {
				t.Errorf("chose %v, want %v", got, tt.near)
			}
		})
	}
}

// TestSteeringFails: a switch that may not choose goes on without, and asks no more.
func TestSteeringFails(t *testing.T) {
	asked := 0
	s := steering{set: func(bool) error { asked++; return errors.New("no right to") }}
	s.begin()
	for i := range 100 {
		s.sending(time.Duration(i) * time.Second)
	}
	s.become(false)
	if asked != 1 || s.near {
		t.Errorf("asked %d times, near: %v", asked, s.near)
	}
	none := steering{}
	none.begin()
	none.sending(0)
	none.become(true)
	if none.near {
		t.Error("near without a way to get there")
	}
}
