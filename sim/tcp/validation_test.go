package tcp

import (
	"slices"
	"testing"
	"time"
)

// validating is Linux's own restart: the window is halved for every timeout
// without data (RFC 2861, section 3; tcp_cwnd_restart in Linux 6.1).
func validating() Config {
	c := config("reno")
	c.Validation = true
	return c
}

// TestIdlenessHalves: a timeout of 5 ms, an initial window of 10 segments.
func TestIdlenessHalves(t *testing.T) {
	for name, tt := range map[string]struct {
		idle           time.Duration
		window         int64 // before
		cwnd, ssthresh int64 // after; in segments
	}{
		"as long as a timeout": {5 * ms, 64, 64, 20},
		"longer":               {5*ms + 1, 64, 32, 48},
		"two timeouts":         {10 * ms, 64, 32, 48},
		"longer than two":      {10*ms + 1, 64, 16, 48},
		"three halves":         {15*ms + 1, 64, 10, 48},
		"for ever":             {time.Second, 64, 10, 48},
		"whole segments":       {5*ms + 1, 31, 15, 22}, // 31/2 and 31/4 of whole segments
		"a high threshold":     {5*ms + 1, 24, 12, 20},
		"below the initial":    {time.Second, 4, 4, 20},
	} {
		r := newRig(t, validating())
		r.segments(10)
		r.ack(10 * mss)
		r.win.cwnd, r.win.ssthresh = tt.window*mss, 20*mss
		r.sent()
		r.at(tt.idle).segments(100)
		if got := int64(len(r.sent())); got != tt.cwnd {
			t.Errorf("%s: sent %d segments, want %d", name, got, tt.cwnd)
		}
		if got := r.win.ssthresh / mss; got != tt.ssthresh {
			t.Errorf("%s: a threshold of %d segments, want %d", name, got, tt.ssthresh)
		}
	}
}

// TestUntestedWindow: of a window that an application leaves unused for a timeout
// half of what it does not use goes, down to the initial window (RFC 2861, section
// 3; tcp_cwnd_application_limited in Linux 6.1).
func TestUntestedWindow(t *testing.T) {
	for name, tt := range map[string]struct {
		segments int64 // every 4 ms
		restart  bool
		want     []int64 // windows, in segments
	}{
		"little":      {4, true, []int64{40, 40, 25, 25, 17, 17}},
		"some":        {20, true, []int64{40, 40, 30, 30, 25, 30}}, // three quarters of 40 are found again in slow start
		"not at all":  {4, false, []int64{40, 40, 40, 40, 40, 40}},
		"all and one": {41, true, []int64{40, 41, 41, 41, 41, 41}},
	} {
		c := validating()
		c.IdleRestart = tt.restart
		r := newRig(t, c)
		r.win.cwnd, r.win.ssthresh = 40*mss, 20*mss
		var got []int64
		for n := range int64(6) {
			r.at(time.Duration(n) * 4 * ms).segments(tt.segments)
			got = append(got, r.win.cwnd/mss)
			for k := int64(1); k <= tt.segments; k++ {
				r.ack((n*tt.segments + k) * mss)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: windows %v, want %v", name, got, tt.want)
		}
	}
}
