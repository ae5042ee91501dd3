package tcp

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestWindowGrow: RFC 5681, section 3.1, and RFC 3465, section 2. In slow start
// an ACK adds what it acknowledges, at most two segments; in congestion
// avoidance a whole window of acknowledged bytes adds one.
func TestWindowGrow(t *testing.T) {
	for name, tt := range map[string]struct {
		w     window
		acked []int64
		want  int64
	}{
		"slow start, full segment":   {window{mss: mss, cwnd: 2000, ssthresh: 9000, leap: 2 * mss}, []int64{1000}, 3000},
		"slow start, small segment":  {window{mss: mss, cwnd: 2000, ssthresh: 9000, leap: 2 * mss}, []int64{10}, 2010},
		"slow start, delayed ACK":    {window{mss: mss, cwnd: 2000, ssthresh: 9000, leap: 2 * mss}, []int64{2000}, 4000},
		"slow start, stretched ACK":  {window{mss: mss, cwnd: 2000, ssthresh: 9000, leap: 2 * mss}, []int64{7000}, 4000},
		"slow start after a timeout": {window{mss: mss, cwnd: 2000, ssthresh: 9000, leap: mss}, []int64{2000}, 3000},
		"avoidance, below a window":  {window{mss: mss, cwnd: 4000, ssthresh: 4000}, []int64{1000, 1000, 1999}, 4000},
		"avoidance, a window":        {window{mss: mss, cwnd: 4000, ssthresh: 4000}, []int64{1000, 1000, 2000}, 5000},
		"avoidance, two windows":     {window{mss: mss, cwnd: 4000, ssthresh: 4000}, []int64{4000, 4999, 1}, 6000},
	} {
		for _, n := range tt.acked {
			tt.w.grow(n)
		}
		if tt.w.cwnd != tt.want {
			t.Errorf("%s: window %d, want %d", name, tt.w.cwnd, tt.want)
		}
	}
}

// TestWindowShrink: RFC 5681, equation 4: half of what is outstanding, at least
// two segments; a timeout leaves the window to collapse.
func TestWindowShrink(t *testing.T) {
	for name, tt := range map[string]struct {
		cwnd, flight   int64
		cause          cause
		want, ssthresh int64
	}{
		"half":          {10000, 10000, lost, 5000, 5000},
		"of the flight": {10000, 6000, lost, 3000, 3000},
		"at least two":  {3000, 3000, lost, 2000, 2000},
		"never wider":   {1000, 1000, lost, 1000, 2000},
		"timeout":       {10000, 8000, timedOut, 10000, 4000},
	} {
		w := window{mss: mss, cwnd: tt.cwnd, ssthresh: 1 << 40}
		w.halve(congestion{cause: tt.cause, flight: tt.flight})
		if w.cwnd != tt.want || w.ssthresh != tt.ssthresh {
			t.Errorf("%s: window %d, threshold %d; want %d, %d", name, w.cwnd, w.ssthresh, tt.want, tt.ssthresh)
		}
	}
}

// perRound counts the segments with payload that are sent in each round trip of
// a long flow.
func perRound(t *testing.T, c Config, ssthresh int64, rounds int) []int {
	const delay = 50 * us
	p := newPair(t, c, delay).establish()
	if ssthresh > 0 {
		p.ends[0].win.ssthresh = ssthresh
	}
	n := make([]int, rounds)
	p.rule = func(now time.Duration, k *packet.Packet) fate {
		if i := int(now / (2 * delay)); k.Segment.Len > 0 && i < rounds {
			n[i]++
		}
		return fate{}
	}
	p.ends[0].Write(0, 1<<40, Tag{})
	p.loop.RunUntil(time.Duration(rounds)*2*delay - 1)
	return n
}

func TestSlowStartDoubles(t *testing.T) {
	for _, each := range []int{1, 2} {
		c := config("reno")
		c.DelayedAck, c.AckTimeout = each, ms
		if got, want := perRound(t, c, 0, 5), []int{10, 20, 40, 80, 160}; !slices.Equal(got, want) {
			t.Errorf("an ACK every %d segments: sent %v in a round, want %v", each, got, want)
		}
	}
}

func TestAvoidanceAddsASegment(t *testing.T) {
	for _, control := range []string{"reno", "ecn-star", "dctcp"} {
		got, want := perRound(t, config(control), 10*mss, 6), []int{10, 11, 12, 13, 14, 15}
		if !slices.Equal(got, want) {
			t.Errorf("%s: sent %v in a round, want %v", control, got, want)
		}
	}
}

func TestReceiveWindow(t *testing.T) {
	c := config("reno")
	c.ReceiveWindow = 25 * mss
	if got, want := perRound(t, c, 0, 4), []int{10, 20, 25, 25}; !slices.Equal(got, want) {
		t.Errorf("sent %v in a round, want %v", got, want)
	}
}

// TestWindowNeedsUse: messages that leave most of the window unused do not let
// it grow; ones that fill it do.
func TestWindowNeedsUse(t *testing.T) {
	for name, tt := range map[string]struct {
		segments int64
		slow     bool
		want     int64
	}{
		"little in slow start":    {4, true, 10},
		"half in slow start":      {5, true, 15},
		"more than the window":    {12, true, 22},
		"little in avoidance":     {4, false, 10},
		"just full in avoidance":  {10, false, 10},
		"beyond it, in avoidance": {11, false, 11},
	} {
		r := newRig(t, config("reno"))
		if !tt.slow {
			r.win.ssthresh = 10 * mss
		}
		r.segments(tt.segments)
		for n := int64(1); n <= tt.segments; n++ {
			r.ack(n * mss)
		}
		if got := r.win.cwnd / mss; got != tt.want {
			t.Errorf("%s: a window of %d, want %d", name, got, tt.want)
		}
	}
}

// TestIdleRestart: RFC 5681, section 4.1: after more than a timeout without
// sending, at most the initial window goes out at once.
func TestIdleRestart(t *testing.T) {
	for name, tt := range map[string]struct {
		restart bool
		idle    time.Duration
		want    int
	}{
		"longer":  {true, 5*ms + 1, 10},
		"as long": {true, 5 * ms, 20},
		"kept":    {false, time.Second, 20},
	} {
		c := config("reno")
		c.IdleRestart = tt.restart
		r := newRig(t, c)
		r.segments(10)
		r.ack(10 * mss)
		r.win.cwnd = 20 * mss
		r.sent()
		r.at(tt.idle).segments(40)
		if got := len(r.sent()); got != tt.want {
			t.Errorf("%s: sent %d segments, want %d", name, got, tt.want)
		}
	}
}
