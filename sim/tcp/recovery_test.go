package tcp

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// flight is an endpoint that has sent segments 0 to 9 and has n left to send, in
// congestion avoidance at a window of 10.
func flight(t *testing.T, n int64) *rig {
	r := newRig(t, sackConfig("reno"))
	r.win.ssthresh = 10 * mss
	r.segments(10 + n)
	r.sent()
	return r
}

// expect checks what was sent since the last look.
func (r *rig) expect(what string, want ...int64) {
	r.t.Helper()
	if got := r.sent(); !slices.Equal(got, append([]int64{}, want...)) {
		r.t.Errorf("%s: sent %v, want %v", what, got, want)
	}
}

// TestLimitedTransmitAndFastRetransmit follows RFC 6675, section 5, by hand.
// Segment 0 of a window of 10 is lost.
func TestLimitedTransmitAndFastRetransmit(t *testing.T) {
	r := flight(t, 90)
	r.ack(0, run(1, 2))
	r.expect("first duplicate", 10) // RFC 3042
	r.ack(0, run(1, 3))
	r.expect("second", 11)
	r.ack(0, run(1, 4)) // 3 segments above 0: lost
	r.expect("third", 0)
	if r.win.cwnd != 5*mss || r.win.ssthresh != 5*mss { // half of 10, without what limited transmit sent
		t.Errorf("window %d, threshold %d, want 5000", r.win.cwnd, r.win.ssthresh)
	}
	// Twelve were sent, 3 are SACKed, 1 is lost, 1 sent again: 9 in the pipe. The
	// fifth further duplicate makes room for one, and so on.
	for n := int64(5); n <= 8; n++ {
		r.ack(0, run(1, n))
		r.expect("pipe above the window")
	}
	r.ack(0, run(1, 9))
	r.expect("pipe below the window", 12)
	r.ack(0, run(1, 10))
	r.expect("one out, one in", 13)
	r.ack(12 * mss)
	if r.board.phase != open || r.win.cwnd != 5*mss {
		t.Errorf("phase %d, window %d after the recovery point", r.board.phase, r.win.cwnd)
	}
	r.expect("5 in the pipe", 14, 15, 16)
	if want := (Counters{Retransmits: 1, FastRecoveries: 1}); r.n != want {
		t.Errorf("counted %+v, want %+v", r.n, want)
	}
}

// TestReorderingBelowThreshold: two segments that overtake one are no loss.
func TestReorderingBelowThreshold(t *testing.T) {
	r := flight(t, 0)
	r.ack(0, run(1, 2))
	r.ack(0, run(1, 3))
	r.ack(3 * mss)
	r.expect("reordering")
	if r.win.cwnd != 10*mss || r.n.FastRecoveries != 0 {
		t.Errorf("window %d, %+v", r.win.cwnd, r.n)
	}
}

// TestLossByScoreboard: one ACK that SACKs more than two segments above a hole
// shows a loss (RFC 6675, section 5, step 2); one that tells nothing new is no
// duplicate, however often it comes.
func TestLossByScoreboard(t *testing.T) {
	r := flight(t, 0)
	r.ack(0, run(1, 4))
	r.expect("three segments at once", 0)

	r = flight(t, 0)
	for range 5 {
		r.ack(0)
		r.ack(0, run(1, 2))
	}
	r.expect("nothing new")
}

// TestThreeDuplicatesOfLittle: three duplicates are enough, however little they
// SACK (RFC 6675, section 5, step 1).
func TestThreeDuplicatesOfLittle(t *testing.T) {
	r := flight(t, 0)
	for n := range int64(3) {
		r.ack(0, packet.Block{First: 1000, End: 1010 + 10*n})
	}
	r.expect("three duplicates", 0)
}

// TestSeveralLosses: segments 0, 2 and 4 of 10 are lost; what is known to be
// lost is sent again as the pipe allows, each once, with one cut of the window.
func TestSeveralLosses(t *testing.T) {
	r := flight(t, 90)
	r.ack(0, run(1, 2))
	r.expect("1", 10)
	r.ack(0, run(3, 4), run(1, 2))
	r.expect("3", 11)
	r.ack(0, run(5, 6), run(3, 4), run(1, 2))
	r.expect("5", 0) // three runs above 0; 2 and 4 are not known to be lost
	r.ack(0, run(5, 7), run(3, 4), run(1, 2))
	r.expect("6") // 2 is lost now; pipe: 4, 7 to 11, 0 = 7
	r.ack(0, run(5, 8), run(3, 4), run(1, 2))
	r.expect("7") // 4 is lost now; pipe: 8 to 11, 0 = 5
	r.ack(0, run(5, 9), run(3, 4), run(1, 2))
	r.expect("8", 2) // pipe 4
	r.ack(0, run(5, 10), run(3, 4), run(1, 2))
	r.expect("9", 4)
	r.ack(2*mss, run(5, 10), run(3, 4))
	r.expect("a partial acknowledgement", 12)
	r.ack(4*mss, run(5, 10))
	r.expect("another", 13)
	r.ack(10 * mss)
	r.expect("two more are in", 14)
	if r.win.cwnd != 5*mss || r.n.FastRecoveries != 1 || r.n.Retransmits != 3 || r.n.Timeouts != 0 {
		t.Errorf("window %d, %+v", r.win.cwnd, r.n)
	}
}

// TestNextSegLastResorts: with nothing new to send, what lies below a SACKed
// segment goes out without being known to be lost (rule 3), and then the last
// segment once (rule 4).
func TestNextSegLastResorts(t *testing.T) {
	r := flight(t, 0) // 0, 1, 6 and 9 are lost
	r.ack(0, run(2, 3))
	r.ack(0, run(2, 4))
	r.ack(0, run(2, 5))
	r.expect("lost", 0)
	r.ack(0, run(2, 6))
	r.expect("pipe 5: 6 to 9, 0")
	r.ack(0, run(7, 8), run(2, 6))
	r.expect("rule 1", 1) // pipe 4
	r.ack(0, run(7, 9), run(2, 6))
	r.expect("rule 3", 6) // pipe: 6, 9, 0, 1
	r.ack(6*mss, run(7, 9))
	r.expect("rule 4", 9)
	r.ack(6*mss, run(7, 9))
	r.expect("one rescue")
	r.ack(9 * mss)
	r.ack(10 * mss)
	if r.n.Timeouts != 0 || r.user.acked != 1 || r.board.phase != open {
		t.Errorf("%+v, phase %d", r.n, r.board.phase)
	}
}

// TestTimeoutRepairs: after a timeout the window is one segment, the threshold
// half of the flight, and what is not SACKed is sent again in slow start, before
// anything new (RFC 5681, section 3.1; RFC 6675, section 5.1).
func TestTimeoutRepairs(t *testing.T) {
	r := flight(t, 90)
	r.ack(0, run(8, 9))
	r.expect("limited transmit", 10)
	r.at(10 * ms)
	r.expect("timeout", 0)
	if r.win.cwnd != mss || r.win.ssthresh != 5*mss { // 10 is from limited transmit
		t.Errorf("window %d, threshold %d", r.win.cwnd, r.win.ssthresh)
	}
	r.ack(mss, run(8, 9))
	r.expect("slow start at 2", 1, 2)
	r.ack(2*mss, run(8, 9))
	r.expect("3", 3, 4)
	r.ack(5*mss, run(8, 9)) // three segments, counted as one
	r.expect("4", 5, 6, 7, 9)
	r.ack(9*mss, run(10, 11))
	r.expect("5", 11, 12, 13, 14)
	r.ack(11 * mss)
	if r.board.phase != open || r.win.leap != 2*mss {
		t.Errorf("phase %d, growth by %d behind the recovery point", r.board.phase, r.win.leap)
	}
	if r.n.Timeouts != 1 || r.n.Retransmits != 9 || r.n.FastRecoveries != 0 {
		t.Errorf("counted %+v", r.n)
	}
}

// TestThresholdHolds: the second timeout of a segment leaves the threshold
// (RFC 5681, section 3.1).
func TestThresholdHolds(t *testing.T) {
	r := flight(t, 0)
	if r.at(10 * ms); r.win.ssthresh != 5*mss {
		t.Errorf("threshold %d, want 5000", r.win.ssthresh)
	}
	if r.at(30 * ms); r.n.Timeouts != 2 || r.win.ssthresh != 5*mss {
		t.Errorf("threshold %d after %d timeouts, want 5000", r.win.ssthresh, r.n.Timeouts)
	}
}

// TestTimeoutInRecovery: what was SACKed since the window was cut does not count
// for the threshold, or the loss of a segment sent again would raise it.
func TestTimeoutInRecovery(t *testing.T) {
	r := flight(t, 90)
	for n := int64(2); n <= 40; n++ { // 0 is lost twice
		if n*mss <= r.nxt {
			r.ack(0, run(1, n))
		}
	}
	if flight := (r.nxt - r.una) / mss; r.win.cwnd != 5*mss || flight < 40 {
		t.Fatalf("window %d, %d segments not acknowledged", r.win.cwnd, flight)
	}
	if r.at(10 * ms); r.n.Timeouts != 1 || r.win.ssthresh != 2500 {
		t.Errorf("threshold %d after %d timeouts, want 2500", r.win.ssthresh, r.n.Timeouts)
	}
}

// TestNoFastRecoveryInRevival: until what was outstanding at a timeout is
// acknowledged, no fast recovery begins (RFC 6675, section 5.1).
func TestNoFastRecoveryInRevival(t *testing.T) {
	r := flight(t, 0)
	r.at(10 * ms)
	r.ack(0, run(4, 8))
	r.ack(0, run(4, 9))
	r.ack(0, run(4, 10))
	if r.n.FastRecoveries != 0 || r.win.cwnd != mss {
		t.Errorf("%d fast recoveries, window %d", r.n.FastRecoveries, r.win.cwnd)
	}
}

// TestNeedlessTimeout: late acknowledgements after a timeout are taken, and
// nothing that they cover is sent again.
func TestNeedlessTimeout(t *testing.T) {
	r := flight(t, 5)
	r.at(10 * ms)
	r.expect("timeout", 0)
	r.ack(10 * mss)
	r.expect("all arrived", 10, 11)
	r.ack(12 * mss)
	r.expect("slow start", 12, 13, 14)
	if r.ack(15 * mss); r.user.acked != 1 || r.n.Retransmits != 1 {
		t.Errorf("acked %d times, %+v", r.user.acked, r.n)
	}
}

// TestLossRates: with the loss of any one segment, or of three in a row, a
// window that is large enough recovers without a timeout.
func TestLossRates(t *testing.T) {
	for _, recovery := range recoveries {
		for i := range int64(80) {
			lossy, first := 1+i%2*2, 30+i/2
			c := config("reno")
			c.LossRecovery = recovery
			p := newPair(t, c, 50*us).establish()
			lose := map[int64]bool{}
			for n := range lossy {
				lose[(first+n)*mss] = true
			}
			p.rule = func(_ time.Duration, k *packet.Packet) fate {
				drop := k.Segment.Len > 0 && lose[k.Segment.Seq]
				delete(lose, k.Segment.Seq)
				return fate{drop: drop}
			}
			p.ends[0].Write(0, 200*mss, Tag{})
			p.drain(t)
			if n := p.n[0]; n.Timeouts != 0 || n.Retransmits != lossy || p.users[1].delivered != 200*mss {
				t.Errorf("%s, %d lost at %d: %+v, delivered %d", recovery, lossy, first, n, p.users[1].delivered)
			}
		}
	}
}
