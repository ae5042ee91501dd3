package tcp

import (
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestCodepoints: what is ECN-capable (RFC 3168, sections 6.1.1, 6.1.4 and
// 6.1.5; RFC 8257, section 3.6; see [Controls]).
func TestCodepoints(t *testing.T) {
	type codepoints struct{ syn, answer, data, again, ack packet.ECN }
	for control, want := range map[string]codepoints{
		"reno":     {},
		"cubic":    {},
		"ecn-star": {data: packet.ECT0},
		"dctcp":    {packet.ECT0, packet.ECT0, packet.ECT0, packet.ECT0, packet.ECT0},
	} {
		p := newPair(t, config(control), 50*us)
		var got codepoints
		dropped := false
		p.rule = func(_ time.Duration, k *packet.Packet) (f fate) {
			s := &k.Segment
			switch {
			case s.Flags == packet.SYN:
				got.syn = k.ECN
			case s.Flags == packet.SYN|packet.ACK:
				got.answer = k.ECN
			case k.PureACK:
				got.ack = k.ECN
			case !dropped:
				dropped, f.drop = true, true
				got.data = k.ECN
			case s.Seq == 0:
				got.again = k.ECN
			}
			if k.PureACK != (s.Len == 0 && s.Flags == packet.ACK) {
				t.Errorf("%s: pure ACK is %v: %+v", control, k.PureACK, *s)
			}
			return f
		}
		p.open()
		p.ends[0].Write(0, 10*mss, Tag{})
		p.drain(t)
		if got != want || !dropped {
			t.Errorf("%s: %+v, want %+v", control, got, want)
		}
	}
}

// TestMarksHalveOnce: RFC 3168, section 6.1.2: the first echo halves the window,
// later ones of the same window of data do nothing, nor do they let it grow, and
// the first new segment after the cut tells the receiver.
func TestMarksHalveOnce(t *testing.T) {
	r := newRig(t, config("ecn-star"))
	r.segments(100)
	r.sent()
	r.echo(mss)
	if r.win.cwnd != 5*mss || r.win.ssthresh != 5*mss {
		t.Errorf("window %d, threshold %d, want 5000", r.win.cwnd, r.win.ssthresh)
	}
	for n := int64(2); n <= 10; n++ {
		r.echo(n * mss)
	}
	if r.win.cwnd != 5*mss {
		t.Errorf("window %d after the window of data, want 5000", r.win.cwnd)
	}
	for i, k := range r.out {
		if cwr := k.Segment.Flags&packet.CWR != 0; cwr != (i == 0) {
			t.Errorf("segment %d after the cut: CWR is %v", i, cwr)
		}
	}
	if r.echo(11 * mss); r.win.cwnd != 2500 {
		t.Errorf("window %d after a mark in the next, want 2500", r.win.cwnd)
	}
	if r.n.ECEReceived != 11 {
		t.Errorf("counted %d echoes, want 11", r.n.ECEReceived)
	}
}

// TestMarkAndLoss: a loss in a window of data that a mark has cut is answered by
// DCTCP only, a loss before the mark by all, and a timeout always collapses the
// window (RFC 3168, section 6.1.2; RFC 8257, section 3.5).
func TestMarkAndLoss(t *testing.T) {
	for name, tt := range map[string]struct {
		control   string
		lossFirst bool
		want      int64 // window after both
	}{
		"ecn-star": {"ecn-star", false, 5},
		"dctcp":    {"dctcp", false, 4}, // alpha is 1: 5 from the mark, then half of the flight of 9, in bytes 4.5
		"reversed": {"ecn-star", true, 5},
	} {
		r := newRig(t, sackConfig(tt.control))
		r.segments(10)
		if !tt.lossFirst {
			r.echo(mss)
		}
		una := r.una
		for n := int64(1); n <= 3; n++ {
			r.ack(una, packet.Block{First: una + mss, End: una + (1+n)*mss})
		}
		r.echo(una, packet.Block{First: una + mss, End: una + 5*mss})
		if got := r.win.cwnd / mss; got != tt.want || r.n.FastRecoveries != 1 {
			t.Errorf("%s: window %d, want %d; %+v", name, got, tt.want, r.n)
		}
		if r.at(time.Second); r.win.cwnd != mss {
			t.Errorf("%s: window %d after a timeout", name, r.win.cwnd)
		}
	}
	r := newRig(t, config("ecn-star"))
	r.segments(10)
	r.echo(mss)
	if r.at(time.Second); r.win.ssthresh != 5*mss {
		t.Errorf("threshold %d after a mark and a timeout, want 5000", r.win.ssthresh)
	}
}

// TestLeastWindow: marks do not take the window below min_window.
func TestLeastWindow(t *testing.T) {
	for _, control := range []string{"ecn-star", "dctcp"} {
		for _, least := range []int64{1, 2} {
			c := config(control)
			c.Control.Params = map[string]any{"min_window": int(least)}
			r := newRig(t, c)
			r.segments(1000)
			for r.una < 200*mss {
				r.echo(r.una + mss)
			}
			if r.win.cwnd != least*mss {
				t.Errorf("%s: window %d, want %d segments", control, r.win.cwnd, least)
			}
		}
	}
}

// TestGrowOnEcho: the ACK of a segment lets a window of five in congestion
// avoidance grow by a fifth of a segment, if it has an echo only with
// grow_on_echo, and not with the first of some echoes.
func TestGrowOnEcho(t *testing.T) {
	for name, tt := range map[string]struct {
		grows bool
		acks  string // an echo for e, none for a, after the echo that cuts
		want  int64
	}{
		"RFC 3168":        {false, "eeeee", 5},
		"four echoes":     {true, "eeee", 5},
		"five echoes":     {true, "eeeee", 6},
		"first of each":   {true, "aeaeaea", 5},
		"ACKs and echoes": {true, "aeaeaeaea", 6},
	} {
		c := config("ecn-star")
		c.Control.Params = map[string]any{"grow_on_echo": tt.grows}
		r := newRig(t, c)
		r.segments(10)
		r.echo(mss)
		for _, a := range tt.acks {
			if a == 'e' {
				r.echo(r.una + mss)
			} else {
				r.ack(r.una + mss)
			}
		}
		if got := r.win.cwnd / mss; got != tt.want {
			t.Errorf("%s: window %d, want %d segments", name, got, tt.want)
		}
	}
}

// TestEchoUntilCWR: RFC 3168, section 6.1.3.
func TestEchoUntilCWR(t *testing.T) {
	r := newRig(t, config("ecn-star"))
	for i, tt := range []struct {
		ecn  packet.ECN
		cwr  packet.Flags
		want bool
	}{
		{packet.ECT0, 0, false},
		{packet.CE, 0, true},
		{packet.ECT0, 0, true},
		{packet.ECT0, packet.CWR, false},
		{packet.ECT0, 0, false},
		{packet.CE, packet.CWR, true}, // marked after the cut
	} {
		r.in(packet.Packet{ECN: tt.ecn, Segment: packet.Segment{Seq: int64(i) * mss, Len: mss, Flags: packet.ACK | tt.cwr}})
		if got := r.last().ECE; got != tt.want {
			t.Errorf("segment %d: echo is %v", i, got)
		}
	}
	if r.n.CEReceived != 2 {
		t.Errorf("counted %d marks, want 2", r.n.CEReceived)
	}
}

// TestNoECN: an echo means nothing to an end without ECN.
func TestNoECN(t *testing.T) {
	for _, control := range []string{"reno", "cubic"} {
		r := newRig(t, config(control))
		r.segments(10)
		r.echo(mss)
		if r.win.cwnd != 11*mss || r.last().Segment.Flags&packet.CWR != 0 {
			t.Errorf("%s: window %d", control, r.win.cwnd)
		}
		if r.data(0, mss, packet.CE); r.last().ECE {
			t.Errorf("%s: echoes", control)
		}
	}
}
