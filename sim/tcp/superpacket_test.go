package tcp

import "testing"

// newSuperRig is an endpoint in congestion avoidance with a window of 30
// segments, super-packets of 45, and a round-trip time of a millisecond. It has
// sent 30 of 1000 segments.
func newSuperRig(t *testing.T) *rig {
	t.Helper()
	c := config("reno")
	c.InitCwnd, c.SuperPacket = 30, 45*mss
	r := newRig(t, c)
	r.win.ssthresh = mss
	r.segments(1000)
	if got := len(r.sent()); got != 30 {
		t.Fatalf("sent %d at first, want 30: nothing is to come for which to wait", got)
	}
	return r
}

// acks hands over acknowledgements of one segment each, and tells how many
// segments went out.
func (r *rig) acks(first, last int64) int {
	for n := first; n <= last; n++ {
		r.ack(n * mss)
	}
	return len(r.sent())
}

// TestDefersForAThird: tcp_tso_should_defer in Linux 6.1: less than a third of
// the window (tcp_tso_win_divisor) waits; the rest of a super-packet goes as soon
// as there is room for it, unless it is the last one that was written.
func TestDefersForAThird(t *testing.T) {
	r := newSuperRig(t)
	r.at(ms)
	for _, tt := range []struct {
		what        string
		first, last int64
		want        int
	}{
		{"less than a third", 1, 9, 0},
		{"a third", 10, 10, 10},
		{"less than the rest, which is five", 11, 14, 0},
		{"the rest of the super-packet", 15, 15, 5},
		{"little of the next", 16, 24, 0},
		{"a third of the next", 25, 25, 10},
	} {
		if got := r.acks(tt.first, tt.last); got != tt.want {
			t.Errorf("%s: sent %d, want %d", tt.what, got, tt.want)
		}
	}
}

// TestDefersForAnAcknowledgement: nothing waits when no acknowledgement is due
// within half a round trip, or when nothing was sent for a millisecond.
func TestDefersForAnAcknowledgement(t *testing.T) {
	r := newSuperRig(t)
	r.at(400 * us)
	r.ack(mss) // which measures a millisecond: the next is due in 600 us
	if got := len(r.sent()); got != 1 {
		t.Errorf("an acknowledgement far off: sent %d, want 1", got)
	}
	r.at(500 * us)
	if got := r.acks(2, 2); got != 0 {
		t.Errorf("one near: sent %d, want none", got)
	}
	r.at(1400*us + 1)
	if got := r.acks(3, 3); got != 2 {
		t.Errorf("after a silence: sent %d, want the 2 that wait", got)
	}
}

// TestDefersTheEnd: what was written last may get longer, so it waits for a third
// of the window too, or for all acknowledgements.
func TestDefersTheEnd(t *testing.T) {
	r := newSuperRig(t)
	r.stream.cut(33 * mss)
	r.at(ms)
	if got := r.acks(1, 9); got != 0 {
		t.Errorf("the last three with room for nine: sent %d, want none", got)
	}
	if got := r.acks(10, 10); got != 3 {
		t.Errorf("with room for a third of the window: sent %d, want 3", got)
	}
}

// TestDeferringIsTheWindow: a window that data waits for is what limits the
// sender, and grows.
func TestDeferringIsTheWindow(t *testing.T) {
	r := newSuperRig(t)
	r.at(ms)
	r.acks(1, 100)
	if got := r.win.cwnd / mss; got < 32 {
		t.Errorf("window of %d segments after three of them, want 32 at least", got)
	}
}
