package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestQuickAcks: tcp_event_data_recv in Linux 6.1: the first segments of a
// connection are acknowledged one by one, later ones in pairs, and one by one
// again after a pause that is longer than a timeout, unless this end answers data
// with data (pingpong mode).
func TestQuickAcks(t *testing.T) {
	c := config("reno")
	c.DelayedAck, c.AckTimeout, c.QuickAcks = 2, 40*ms, 4
	r := newRig(t, c)
	var next int64
	acks := func(segments int64) int {
		r.out = nil
		for range segments {
			r.data(next*mss, mss, packet.NotECT)
			next++
		}
		return len(r.out)
	}
	steps := []struct {
		what     string
		after    time.Duration
		answer   bool
		segments int64
		want     int
	}{
		{"four at once, then in pairs", 0, false, 12, 8},
		{"a short pause", ms, false, 4, 2},
		{"a pause", 20 * ms, false, 6, 5},
		{"data that answers", ms, true, 4, 2},
		{"a pause, in pingpong mode", 20 * ms, false, 4, 2},
	}
	now := time.Duration(0)
	for _, s := range steps {
		now += s.after
		r.at(now)
		if s.answer {
			r.segments(1)
			r.ack(r.nxt)
		}
		if got := acks(s.segments); got != s.want {
			t.Errorf("%s: %d ACKs of %d segments, want %d", s.what, got, s.segments, s.want)
		}
	}
	acks(1)
	r.at(now + 50*ms) // the delayed ACK's timer ends pingpong mode
	if got := acks(4); got != 4 {
		t.Errorf("after a delayed ACK: %d ACKs of 4 segments, want 4", got)
	}
}
