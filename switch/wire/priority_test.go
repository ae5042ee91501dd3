//go:build linux

package wire

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// TestCalm: a loop that polls without work is an ordinary thread until there is work
// again, if it has not used up its share of the period before.
func TestCalm(t *testing.T) {
	u := urgency{set: func(bool) error { return nil }}
	u.become(true)
	u.calm()
	if u.turn(urgentPeriod); u.on {
		t.Error("real-time in the next period, without work")
	}
	if u.stir(); !u.on {
		t.Error("not real-time with work")
	}
	u.turn(urgentPeriod + urgentMost)
	u.calm()
	if u.stir(); u.on {
		t.Error("real-time beyond its share of the period")
	}
	if u.turn(2 * urgentPeriod); !u.on {
		t.Error("not real-time in the next period")
	}
	none := urgency{}
	none.calm()
	if none.stir(); none.on {
		t.Error("real-time without a CPU of its own")
	}
}

// TestOrdinaryUrgency: somebody who may have real-time threads by a limit alone, as an
// ordinary user may, can leave that priority again.
func TestOrdinaryUrgency(t *testing.T) {
	before := unix.Rlimit{}
	if err := unix.Prlimit(0, unix.RLIMIT_RTPRIO, &unix.Rlimit{Cur: 1, Max: 1}, &before); err != nil {
		t.Skip("no limit of real-time priorities may be set:", err)
	}
	defer func() {
		if err := unix.Prlimit(0, unix.RLIMIT_RTPRIO, &before, nil); err != nil {
			t.Error(err)
		}
	}()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // which ends with this goroutine
		none := [2]unix.CapUserData{}
		if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
			done <- err
			return
		}
		for _, realTime := range []bool{true, false, true, false} {
			if err := setRealTime(realTime); err != nil {
				done <- fmt.Errorf("real-time %t: %w", realTime, err)
				return
			}
		}
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
