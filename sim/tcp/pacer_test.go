package tcp

import (
	"slices"
	"testing"
	"time"
)

// leaving are the times in microseconds at which data leaves until the end.
func (r *rig) leaving(until time.Duration) (at []int64) {
	for now := r.loop.Now(); now <= until; now += 10 * us {
		r.at(now)
		for range r.sent() {
			at = append(at, int64(now/us))
		}
	}
	return at
}

// TestPaced: bursts of the window's length leave as far apart as the rate says; the
// window bounds them as before, and an idle time saves up nothing.
func TestPaced(t *testing.T) {
	for _, tt := range []struct {
		burst int64
		want  []int64
	}{
		{mss, []int64{0, 100, 200, 300, 400, 500}},
		{2 * mss, []int64{0, 0, 200, 200, 400, 400}},
		{4 * mss, []int64{0, 0, 0, 0, 400, 400}},
		{100 * mss, []int64{0, 0, 0, 0, 0, 0}},
	} {
		r := newRig(t, config("reno"))
		r.win.rate, r.win.burst = 10e6, tt.burst // a segment in 100 us
		r.at(0)
		r.segments(6)
		first := r.sent()
		if got := append(make([]int64, len(first)), r.leaving(ms)...); !slices.Equal(got, tt.want) {
			t.Errorf("bursts of %d: left at %v us, want %v", tt.burst, got, tt.want)
		}
	}
	r := newRig(t, config("reno"))
	r.win.rate, r.win.burst = 10e6, mss
	r.at(5 * ms)
	r.segments(20)
	if first, rest := len(r.sent()), r.leaving(9*ms); first != 1 || len(rest) != 9 || rest[0] != 5100 {
		t.Errorf("after idle time: %d at once, then at %v us, want the 10 of the window, 100 us apart", first, rest)
	}
}

// TestRateChanges: data that waits goes by the new rate, faster or slower.
func TestRateChanges(t *testing.T) {
	for rate, want := range map[float64]int64{20e6: 550, 5e6: 700} {
		r := newRig(t, config("reno"))
		r.at(500 * us)
		r.win.rate, r.win.burst = 10e6, mss
		r.segments(3)
		r.sent()
		r.win.rate = rate
		r.at(510 * us)
		r.ack(0) // tells nothing
		r.push(r.loop.Now())
		if got := r.leaving(ms); len(got) == 0 || got[0] != want {
			t.Errorf("at %v bytes a second: left at %v us, want %d first", rate, got, want)
		}
	}
}

// TestPacedRepair: what is lost is paced, too.
func TestPacedRepair(t *testing.T) {
	r := newRig(t, config("reno"))
	r.win.cwnd = 20 * mss
	r.segments(20)
	r.at(ms)
	r.out = nil
	r.win.rate, r.win.burst = 10e6, mss
	r.pace.spend(ms, mss, r.win.rate)
	r.ack(0, run(10, 20)) // ten are lost
	if got := r.leaving(ms + 350*us); !slices.Equal(got, []int64{1100, 1200, 1300}) {
		t.Errorf("sent again at %v us, want every 100 us", got)
	}
}
