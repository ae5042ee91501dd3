package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// timed is an endpoint with RACK that knows of a round trip of a millisecond,
// that of all acknowledgements of a rig, and sends the first of n segments.
func timed(t *testing.T, c Config, n int64) *rig {
	r := newRig(t, c)
	r.rtt.sample(&r.stack.config, ms, 1)
	r.segments(n)
	return r
}

// TestRACKExample follows the example of RFC 8985, section 3.4, with the window
// of RFC 9937: of four segments the last three are lost.
func TestRACKExample(t *testing.T) {
	r := timed(t, config("reno"), 4)
	r.expect("steps 1 and 2", 0, 1, 2, 3)
	r.at(ms).ack(mss)
	r.at(3*ms - 1).expect("before two round trips")
	r.at(3*ms).expect("step 3: the probe", 3)
	r.at(4*ms).ack(mss, run(3, 4))
	r.expect("step 5: 1 and 2 are lost, one goes out for one that arrived", 1)
	if r.rack.lost != 1 || r.board.phase != recovering {
		t.Errorf("%d more are lost, phase %d", r.rack.lost, r.board.phase)
	}
	r.at(5*ms).ack(2*mss, run(3, 4))
	r.expect("step 7", 2)
	r.at(6 * ms).ack(4 * mss)
	if want := (Counters{Retransmits: 3, FastRecoveries: 1, Probes: 1}); r.n != want || r.user.acked != 1 {
		t.Errorf("counted %+v, want %+v; acked %d times", r.n, want, r.user.acked)
	}
	if r.win.cwnd != 2*mss || r.board.phase != open { // half of the flight of 3, but at least 2
		t.Errorf("window %d, phase %d", r.win.cwnd, r.board.phase)
	}
}

// TestLostRetransmission: segment 0 is lost, and lost again when it is sent
// again; the first segment sent behind it that arrives says so (RFC 8985,
// section 3.1). The window is cut once.
func TestLostRetransmission(t *testing.T) {
	r := timed(t, config("reno"), 30)
	r.expect("a window", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	r.at(ms)
	for _, tt := range []struct {
		sacked int64 // below it, all but 0
		want   []int64
	}{
		{2, []int64{10}}, // RFC 3042
		{3, []int64{11}},
		{4, []int64{0}}, // DupThresh; of 10 in the network and one that arrives now, half is 5
		{5, nil},
		{6, nil},
		{7, []int64{12}}, // 4 of 10 arrived: 2 may go out
		{8, nil},
		{9, nil},
		{10, []int64{13}}, // 4 in the pipe, one below the target
	} {
		r.ack(0, run(1, tt.sacked))
		r.expect("first round", tt.want...)
	}
	r.at(2*ms).ack(0, run(1, 11))
	r.expect("sent before 0 was sent again", 14)
	r.ack(0, run(1, 12))
	r.expect("this one too", 15)
	r.ack(0, run(1, 13))
	r.expect("sent behind it", 0, 16)
	r.at(3 * ms).ack(17 * mss)
	if want := (Counters{Retransmits: 2, FastRecoveries: 1}); r.n != want {
		t.Errorf("counted %+v, want %+v", r.n, want)
	}
	if r.win.cwnd != 5*mss || r.win.ssthresh != 5*mss || r.board.phase != open {
		t.Errorf("window %d, threshold %d, phase %d", r.win.cwnd, r.win.ssthresh, r.board.phase)
	}
}

// TestReorderingTimer: with fewer than DupThresh segments SACKed, what is missing
// is lost when a quarter of the least round trip has passed, without any further
// acknowledgement (RFC 8985, section 6.2, steps 4 and 5).
func TestReorderingTimer(t *testing.T) {
	r := timed(t, config("reno"), 10)
	r.sent()
	r.at(ms).ack(0, run(1, 2))
	r.ack(0, run(1, 3))
	r.at(1250*us - 1).expect("late, but not lost")
	r.at(1250*us).expect("lost", 0)
	if want := (Counters{Retransmits: 1, FastRecoveries: 1}); r.n != want {
		t.Errorf("counted %+v, want %+v", r.n, want)
	}
	// The retransmission timer goes on, from when the first segment was sent.
	r.at(6250*us - 1)
	if r.n.Timeouts != 0 {
		t.Errorf("%d timeouts within 5ms", r.n.Timeouts)
	}
	if r.at(6250 * us); r.n.Timeouts != 1 {
		t.Errorf("%d timeouts after 5ms, want 1", r.n.Timeouts)
	}
}

// TestReordering: what arrives within the window for reordering is not sent
// again; and once that was seen, DupThresh counts no more.
func TestReordering(t *testing.T) {
	r := timed(t, config("reno"), 10)
	r.sent()
	r.at(ms).ack(0, run(1, 3))
	r.at(1200 * us).ack(3 * mss)
	r.at(1300*us).ack(3*mss, run(4, 9))
	if r.at(1550*us - 1); r.n.FastRecoveries != 0 || !r.rack.reordered {
		t.Errorf("%+v, reordering seen: %v", r.n, r.rack.reordered)
	}
	r.expect("within a round trip of 1.3ms, and 0.25ms")
	r.at(1550*us).expect("lost", 3)
}

// TestDelivered: RFC 8985, section 6.2, steps 2 and 3: which acknowledgements
// count, and which tell of reordering.
func TestDelivered(t *testing.T) {
	for name, tt := range map[string]struct {
		s         segment
		echo      time.Duration
		counts    bool
		reordered bool
	}{
		"sent once":                    {segment{end: 9000, at: 4 * ms}, 4 * ms, true, false},
		"sent once, below others":      {segment{end: 7000, at: 4 * ms}, 4 * ms, true, true},
		"sent again":                   {segment{end: 9000, at: 4 * ms, resent: true}, 4 * ms, true, false},
		"sent again, below others":     {segment{end: 7000, at: 4 * ms, resent: true}, 4 * ms, true, false},
		"again, too early":             {segment{end: 9000, at: 4*ms + 1, resent: true}, 5 * ms, false, false},
		"again, of the earlier time":   {segment{end: 9000, at: 3 * ms, resent: true}, 2 * ms, false, false},
		"again, of the time before it": {segment{end: 9000, at: 3 * ms, resent: true}, 3*ms - 1, false, false},
	} {
		r := rack{minRTT: ms, fack: 8000}
		tt.s.turn = 1
		r.ring = []segment{tt.s}
		r.delivered(5*ms, 0, r.get(0), tt.echo)
		if counts := r.arrived.turn > 0; counts != tt.counts || r.reordered != tt.reordered {
			t.Errorf("%s: counts %v, reordered %v", name, counts, r.reordered)
		}
	}
}

// TestExpire: RFC 8985, section 6.3: after a timeout the first segment is lost,
// and what was sent more than a round trip ago; what was sent later is not.
func TestExpire(t *testing.T) {
	var r rack
	r.reset()
	for i := range int64(6) {
		r.send(time.Duration(i)*ms, i*mss, (i+1)*mss)
	}
	r.rtt = 2 * ms
	r.resend(5*ms, 0)
	r.sack(r.get(1))
	r.expire(6 * ms) // sent at 4ms or before: 2, 3, 4
	for i, want := range []bool{true, false, true, true, true, false} {
		if got := r.get(i).lost; got != want {
			t.Errorf("%d is lost: %v, want %v", i, got, want)
		}
	}
	if r.pipe != mss {
		t.Errorf("%d bytes under way, want those of the last", r.pipe)
	}
}

// TestTimeoutWithRACK: as TestTimeoutRepairs, with nothing known of round trips.
func TestTimeoutWithRACK(t *testing.T) {
	r := newRig(t, config("reno"))
	r.segments(100)
	r.sent()
	r.at(10*ms).expect("timeout", 0)
	if r.win.cwnd != mss || r.win.ssthresh != 5*mss || r.rack.lost != 9 {
		t.Errorf("window %d, threshold %d, %d lost", r.win.cwnd, r.win.ssthresh, r.rack.lost)
	}
	r.at(11 * ms).ack(mss)
	r.expect("slow start at 2", 1, 2)
	r.at(12 * ms).ack(3 * mss)
	r.expect("3, since ACKs count for a segment each", 3, 4, 5)
	r.at(13*ms).ack(3*mss, run(4, 6))
	r.expect("3 was lost once more, and two left", 3, 6, 7)
	r.at(14 * ms).ack(10 * mss)
	if want := (Counters{Timeouts: 1, Retransmits: 9}); r.n != want || r.board.phase != open {
		t.Errorf("counted %+v, want %+v; phase %d", r.n, want, r.board.phase)
	}
}

// TestTwoParts: a segment that SACK blocks leave no room for goes out in two
// parts, and has arrived when both have.
func TestTwoParts(t *testing.T) {
	r := timed(t, config("reno"), 2)
	r.data(5*mss, mss, packet.NotECT)
	r.out = nil
	r.at(2 * ms)
	var got []packet.Block
	for _, k := range r.out {
		s := k.Segment
		got = append(got, packet.Block{First: s.Seq, End: s.Seq + int64(s.Len)})
	}
	if len(got) != 2 || got[0] != (packet.Block{First: 1000, End: 1988}) || got[1] != (packet.Block{First: 1988, End: 2000}) {
		t.Fatalf("the probe sent %v", got)
	}
	for sacked, end := range []int64{1988, 2000} {
		if r.ack(0, packet.Block{First: 1000, End: end}); r.rack.sacked != sacked {
			t.Errorf("SACKed up to %d: %d segments arrived, want %d", end, r.rack.sacked, sacked)
		}
	}
}

// countConfig is config with losses told by what is SACKed, and windows reduced in
// proportion.
func countConfig(control string) Config {
	c := config(control)
	c.LossRecovery = SACKPRR
	return c
}

// TestCount: segments 0 and 5 of a window of ten are lost. Each is when three
// segments above it are SACKed (RFC 6675, section 4), and no earlier; half of what
// arrives makes room meanwhile (RFC 9937).
func TestCount(t *testing.T) {
	r := timed(t, countConfig("reno"), 30)
	r.expect("a window", 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	r.at(ms).ack(0, run(1, 2))
	r.expect("limited transmit", 10) // RFC 3042
	r.ack(0, run(1, 3))
	r.expect("limited transmit", 11)
	r.ack(0, run(1, 4))
	r.expect("three above 0", 0)
	r.ack(0, run(1, 5))
	r.ack(0, run(1, 5), run(6, 7))
	r.ack(0, run(1, 5), run(6, 8))
	if r.rack.lost != 0 {
		t.Errorf("5 counts as lost with two segments above it: %+v", r.rack.get(5))
	}
	r.sent()
	r.ack(0, run(1, 5), run(6, 9))
	if s := r.rack.get(5); !s.lost && !s.resent {
		t.Error("5 does not count as lost with three segments above it")
	}
}

// TestCountLeavesRetransmissions: what is sent again and lost again is found by the
// timeout alone, after which all that is not SACKed is lost (RFC 6675, section 5.1).
// There is no tail loss probe.
func TestCountLeavesRetransmissions(t *testing.T) {
	r := timed(t, countConfig("reno"), 13)
	r.sent()
	r.at(ms)
	for above := int64(1); above <= 11; above++ { // 0 is lost twice, 12 once
		r.ack(0, run(1, 1+above))
	}
	r.sent()
	r.at(5 * ms).expect("before the timeout")
	r.at(15*ms).expect("after it", 0)
	if r.n.Probes != 0 || r.n.Timeouts != 1 || r.n.FastRecoveries != 1 {
		t.Errorf("counted %+v", r.n)
	}
	r.ack(12 * mss)
	r.expect("lost as well", 12)
}
