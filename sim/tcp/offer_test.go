package tcp

import (
	"testing"

	"aqmlab/switch/packet"
)

// told hands over an acknowledgement that tells a window.
func (r *rig) told(ack int64, window int32) {
	k := ackOf(r.loop.Now(), ack)
	k.Segment.Window = window
	r.in(k)
}

// windows is an endpoint with many segments to send and a wide window, whose peer
// offers room by Linux's rules or never says how much it has.
func windows(t *testing.T, offers bool) *rig {
	c := config("reno")
	c.InitCwnd = 10
	if offers {
		c.Receive = linuxMemory
	}
	r := newRig(t, c)
	r.segments(1000)
	r.out = nil
	return r
}

// TestWindowTakenBack: the window of an acknowledgement of new data counts, even if
// it takes back what was offered (RFC 9293, section 3.10.7.4; tcp_may_update_window
// in Linux 6.1). Nothing is sent beyond it, and more again with the next.
func TestWindowTakenBack(t *testing.T) {
	for _, offers := range []bool{false, true} {
		r := windows(t, offers)
		r.told(mss, 5*mss)
		if got := r.sent(); len(got) != 0 {
			t.Errorf("offers %v: sent %v with 9 segments under way and room for 5", offers, got)
		}
		r.told(9*mss, 3*mss)
		if got := r.sent(); len(got) != 2 || got[1] != 11 {
			t.Errorf("offers %v: sent %v, want 10 and 11", offers, got)
		}
		r.told(9*mss, 2*mss) // of an earlier time: the larger window of the same data stands
		r.told(10*mss, 40*mss)
		if got := r.sent(); len(got) < 8 {
			t.Errorf("offers %v: sent %v with room for 40 segments", offers, got)
		}
	}
}

// TestNoWindowTold: a segment that tells no window ends a limit where peers never
// tell any, and leaves it where they do.
func TestNoWindowTold(t *testing.T) {
	for _, offers := range []bool{false, true} {
		r := windows(t, offers)
		r.told(9*mss, mss)
		r.out = nil
		r.ack(10 * mss)
		if got := len(r.sent()); (got > 1) == offers {
			t.Errorf("offers %v: sent %d segments", offers, got)
		}
	}
}

// TestWindowBelowASegment: with nothing under way the sender fills a window of
// less than a segment, as the override timeout of RFC 9293, section 3.8.6.2.1,
// makes it, so that it does not wait forever.
func TestWindowBelowASegment(t *testing.T) {
	r := windows(t, false)
	r.told(9*mss, mss-1)
	if got := r.sent(); len(got) != 0 {
		t.Errorf("sent %v while a segment is under way", got)
	}
	r.told(10*mss, mss-1)
	if len(r.out) != 1 || r.out[0].Segment.Len != mss-1 || r.out[0].Segment.Flags&packet.PSH != 0 {
		t.Errorf("sent %+v, want one segment of %d bytes", r.out, mss-1)
	}
}

// TestWindowIsNotPassedOn: what a segment is made of may have told a window before.
func TestWindowIsNotPassedOn(t *testing.T) {
	r := windows(t, false)
	r.told(9*mss, mss)
	r.acknowledge(r.loop.Now()) // takes the packet that told it
	if w := r.last().Segment.Window; w != 0 {
		t.Errorf("a segment tells a window of %d", w)
	}
}
