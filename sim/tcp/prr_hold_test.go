package tcp

import (
	"testing"

	"aqmlab/trafficgen/transport"
)

func newHeldRig(t *testing.T, window int) *rig {
	t.Helper()
	c := config("dctcp")
	c.Hold, c.InitCwnd = true, window
	r := newRig(t, c)
	r.win.ssthresh = mss
	r.segments(1000)
	r.sent()
	return r
}

// TestHold: the answer to a mark in Linux (tcp_enter_cwr, tcp_cwnd_reduction,
// tcp_fastretrans_alert): one segment goes out for two that arrive until half of
// the window is under way, no acknowledgement lets it grow, and it is free again with
// the first one of data that was sent after the mark.
func TestHold(t *testing.T) {
	r := newHeldRig(t, 20)
	r.control.(*dctcp).alpha = 1
	r.control.(*dctcp).windowEnd = 1 << 40 // which keeps it
	r.echo(mss)
	r.expect("one at once", 20)
	for n := int64(2); n <= 20; n++ {
		r.ack(n * mss)
		want := max(1, n/2)
		if n >= 18 { // as much as half the window is under way: one for one
			want = n - 10
		}
		if sent := r.nxt/mss - 20; sent != want {
			t.Errorf("%d arrived: sent %d, want %d", n, sent, want)
		}
	}
	if !r.held() || r.nxt != 30*mss {
		t.Errorf("held: %v, %d sent, want the window held until what followed the mark is acknowledged", r.held(), r.nxt/mss)
	}
	r.sent()
	r.ack(21 * mss)
	if r.held() || r.win.cwnd != 10*mss {
		t.Errorf("held: %v, window %d, want 10000 and free", r.held(), r.win.cwnd)
	}
	for n := int64(22); n <= 31; n++ {
		r.ack(n * mss)
	}
	if r.win.cwnd != 11*mss {
		t.Errorf("window %d a round trip later, want 11000", r.win.cwnd)
	}
}

// TestHoldAgain: the acknowledgement that ends a reduction may carry the next
// mark.
func TestHoldAgain(t *testing.T) {
	r := newHeldRig(t, 20)
	c := r.control.(*dctcp)
	c.alpha, c.windowEnd = 1, 1<<40
	r.echo(mss)
	for n := int64(2); n <= 20; n++ {
		r.echo(n * mss)
	}
	if r.win.ssthresh != 10*mss {
		t.Errorf("threshold %d after marks of one round trip, want 10000", r.win.ssthresh)
	}
	r.echo(21 * mss)
	if r.win.ssthresh != 5*mss || !r.held() {
		t.Errorf("threshold %d, held: %v, want 5000 and held", r.win.ssthresh, r.held())
	}
}

// TestLossWhileHeld: a loss is answered although a mark was (Linux:
// dctcp_react_to_loss), and recovery takes over.
func TestLossWhileHeld(t *testing.T) {
	r := newHeldRig(t, 20)
	r.control.(*dctcp).alpha = 0
	r.echo(mss)
	r.at(ms)
	r.ack(mss, run(2, 8))
	if r.board.phase != recovering || r.win.ssthresh != 10*mss {
		t.Errorf("phase %v, threshold %d, want recovery to half of the window", r.board.phase, r.win.ssthresh)
	}
	if r.held() {
		t.Error("still held")
	}
}

// TestLossByAlphaWhileHeld: before Linux 5.1 a loss adds nothing to the answer to a
// mark, and the recovery goes on towards the window that the mark left.
func TestLossByAlphaWhileHeld(t *testing.T) {
	r := newHeldRig(t, 20)
	c := r.control.(*dctcp)
	c.p.OnLoss, c.alpha, c.windowEnd = transport.OnLossAlpha, 1, 1<<40
	r.echo(mss)
	r.at(ms)
	r.ack(mss, run(2, 6))
	if r.board.phase != recovering || r.win.ssthresh != 10*mss || r.reduction.target != 10*mss {
		t.Errorf("phase %v, threshold %d, target %d, want recovery to half of the window", r.board.phase, r.win.ssthresh, r.reduction.target)
	}
}

// TestWholeSegments: Linux counts windows in segments and rounds what a mark
// takes of them down (dctcp_ssthresh).
func TestWholeSegments(t *testing.T) {
	for _, tt := range []struct {
		window int64
		alpha  float64
		want   int64
	}{
		{20, 1, 10}, {3, 1, 2}, {3, 0.5, 3}, {4, 0.5, 3}, {20, 1.0 / 16, 20}, {32, 1.0 / 16, 31}, {2, 1, 2},
	} {
		c := &dctcp{p: transport.DCTCP{MinWindow: 2}, alpha: tt.alpha}
		w := newWindow(mss, tt.window)
		w.whole = true
		c.cut(&w, congestion{cause: marked})
		if w.ssthresh != tt.want*mss {
			t.Errorf("%d segments, alpha %v: threshold %d, want %d segments", tt.window, tt.alpha, w.ssthresh, tt.want)
		}
	}
}
