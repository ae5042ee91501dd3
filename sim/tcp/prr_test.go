package tcp

import "testing"

// TestReduction: RFC 9937 by hand, in segments.
func TestReduction(t *testing.T) {
	for name, tt := range map[string]struct {
		r          reduction
		pipe, news int64
		safe       bool
		want       int64
	}{
		"the fast retransmit":            {reduction{target: 5, flight: 10}, 8, 1, false, 9},
		"half of what arrives":           {reduction{target: 5, flight: 10, delivered: 3, sent: 1}, 7, 1, false, 8},
		"rounded up":                     {reduction{target: 5, flight: 10, delivered: 2, sent: 1}, 7, 1, false, 8},
		"sent already":                   {reduction{target: 5, flight: 10, delivered: 1, sent: 1}, 7, 1, false, 7},
		"sent more than that":            {reduction{target: 5, flight: 10, delivered: 1, sent: 4}, 7, 1, true, 7},
		"below the target, as arrives":   {reduction{target: 5, flight: 10, delivered: 4, sent: 5}, 1, 1, false, 2},
		"below the target, in progress":  {reduction{target: 5, flight: 10, delivered: 4, sent: 5}, 1, 1, true, 3},
		"below it, what is left over":    {reduction{target: 5, flight: 10, delivered: 5, sent: 3}, 1, 1, false, 4},
		"up to the target":               {reduction{target: 5, flight: 10, delivered: 9, sent: 2}, 2, 1, true, 5},
		"a timer: one segment":           {reduction{target: 5, flight: 10, delivered: 4, sent: 5}, 1, 0, false, 2},
		"a burst of losses: not a burst": {reduction{target: 50, flight: 100}, 0, 1, false, 1},
	} {
		tt.r = reduction{target: mss * tt.r.target, flight: mss * tt.r.flight, delivered: mss * tt.r.delivered, sent: mss * tt.r.sent}
		if got := tt.r.window(tt.pipe*mss, tt.news*mss, mss, tt.safe); (got+mss/2)/mss != tt.want {
			t.Errorf("%s: window %d, want %d segments", name, got, tt.want)
		}
	}
}

// TestReductionInProportion: with a segment SACKed after another, one goes out
// for two, and the window ends at the target.
func TestReductionInProportion(t *testing.T) {
	r := reduction{target: 50 * mss, flight: 100 * mss}
	pipe := int64(99 * mss) // one is lost
	for range 99 {
		pipe -= mss
		for cwnd := r.window(pipe, mss, mss, false); pipe+mss <= cwnd; pipe += mss {
			r.sent += mss
		}
		if half := (r.delivered + mss) / 2; r.sent > max(half, mss) || r.sent < half-2*mss {
			t.Fatalf("sent %d when %d had arrived", r.sent, r.delivered)
		}
	}
	if pipe < 49*mss || pipe > 50*mss {
		t.Errorf("%d in the pipe in the end, want about 50000", pipe)
	}
	w := window{cwnd: 7, ssthresh: 9}
	if r.end(&w); w.cwnd != 50*mss || r != (reduction{}) {
		t.Errorf("window %d, left is %+v", w.cwnd, r)
	}
	if r.end(&w); w.cwnd != 50*mss {
		t.Errorf("window %d after the end of no reduction", w.cwnd)
	}
}
