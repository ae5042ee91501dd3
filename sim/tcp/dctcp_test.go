package tcp

import (
	"math"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// TestAlpha: RFC 8257, section 3.3, by hand, with g = 1/4 and windows of 4
// segments. The first window of observation ends with the first ACK.
func TestAlpha(t *testing.T) {
	made, err := newDCTCP(transport.DCTCP{G: 0.25, InitialAlpha: 1, MinWindow: 2, OnLoss: "half"}, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	c := made.make().(*dctcp)
	c.open()
	w := newWindow(mss, 4)
	for i, tt := range []struct {
		una, nxt int64 // segments
		marked   bool
		want     float64
	}{
		{1, 4, false, 0.75},  // 3/4 * 1 + 1/4 * 0; the window ends at 4
		{2, 5, true, 0.75},   //
		{4, 8, false, 0.75},  // at the end, not beyond it
		{5, 9, true, 0.6875}, // 2 of 4 bytes: 3/4 * 0.75 + 1/4 * 0.5; ends at 9
		{7, 11, true, 0.6875},
		{10, 14, true, 0.765625}, // 5 of 5: 3/4 * 0.6875 + 1/4
		{20, 24, false, 0.57421875},
	} {
		una := []int64{0, 1, 2, 4, 5, 7, 10}[i]
		c.acked(&w, ack{bytes: (tt.una - una) * mss, una: tt.una * mss, nxt: tt.nxt * mss, marked: tt.marked})
		if c.alpha != tt.want {
			t.Errorf("ACK %d: alpha %v, want %v", i, c.alpha, tt.want)
		}
	}
}

// TestDCTCPCut: the window shrinks by alpha / 2; a loss halves the flight, also in
// a window of data that a mark has cut (RFC 8257, section 3.5). With the losses of
// Linux before 5.1 they shrink it as a mark does, and not after one. A timeout sets
// the threshold alone.
func TestDCTCPCut(t *testing.T) {
	const unlimited = math.MaxInt64
	for name, tt := range map[string]struct {
		onLoss          string
		alpha           float64
		cause           cause
		again           bool
		cwnd, threshold int64
	}{
		"all marked":               {"half", 1, marked, false, 10_000, 10_000},
		"half marked":              {"half", 0.5, marked, false, 15_000, 15_000},
		"few marked":               {"half", 1.0 / 16, marked, false, 19_375, 19_375},
		"none":                     {"half", 0, marked, false, 20_000, 20_000},
		"loss":                     {"half", 0, lost, false, 9_000, 9_000},
		"loss after mark":          {"half", 0, lost, true, 9_000, 9_000},
		"timeout":                  {"half", 0, timedOut, false, 20_000, 9_000},
		"half marked, by alpha":    {"alpha", 0.5, marked, false, 15_000, 15_000},
		"loss by alpha":            {"alpha", 0.5, lost, false, 15_000, 15_000},
		"loss by alpha, none":      {"alpha", 0, lost, false, 20_000, 20_000},
		"loss by alpha after mark": {"alpha", 0.5, lost, true, 20_000, unlimited},
		"timeout by alpha":         {"alpha", 0.5, timedOut, false, 20_000, 15_000},
	} {
		c := &dctcp{p: transport.DCTCP{MinWindow: 2, OnLoss: tt.onLoss}, alpha: tt.alpha}
		w := newWindow(mss, 20)
		c.cut(&w, congestion{cause: tt.cause, flight: 18_000, again: tt.again})
		if w.cwnd != tt.cwnd || w.ssthresh != tt.threshold {
			t.Errorf("%s: window %d, threshold %d, want %d, %d", name, w.cwnd, w.ssthresh, tt.cwnd, tt.threshold)
		}
	}
}

// TestAlphaConverges: with every fourth packet marked, alpha settles at a
// quarter, delayed ACKs or not.
func TestAlphaConverges(t *testing.T) {
	for _, each := range []int{1, 2, 3} {
		c := config("dctcp")
		c.DelayedAck, c.AckTimeout = each, ms
		c.ReceiveWindow = 40 * mss // windows with a whole number of marks
		p := newPair(t, c, 50*us).establish()
		n := 0
		p.rule = func(_ time.Duration, k *packet.Packet) fate {
			if k.Segment.Len == 0 {
				return fate{}
			}
			n++
			return fate{mark: n%4 == 0}
		}
		p.ends[0].control.(*dctcp).p.MinWindow = 40 // so that cuts do not change the windows
		p.ends[0].win.cwnd = 40 * mss
		p.ends[0].Write(0, 1<<40, Tag{})
		p.loop.RunUntil(100 * ms)
		if got := p.ends[0].control.(*dctcp).alpha; math.Abs(got-0.25) > 0.01 {
			t.Errorf("an ACK every %d: alpha %v, want 0.25", each, got)
		}
	}
}

// TestSawtooth: against a threshold on the window, as a queue with one flow has,
// DCTCP stays close to it: steady state of the paper (Alizadeh et al., SIGCOMM
// 2010, section 3.3): amplitude D = sqrt((C RTT + K) / 2) segments about.
func TestSawtooth(t *testing.T) {
	const threshold = 200
	p := newPair(t, config("dctcp"), 50*us).establish()
	e := p.ends[0]
	p.rule = func(_ time.Duration, k *packet.Packet) fate {
		return fate{mark: k.Segment.Len > 0 && e.nxt-e.una > threshold*mss}
	}
	e.Write(0, 1<<40, Tag{})
	p.loop.RunUntil(50 * ms)
	low, high := int64(math.MaxInt64), int64(0)
	for now := 50 * ms; now < 100*ms; now += 100 * us {
		p.loop.RunUntil(now)
		low, high = min(low, e.win.cwnd/mss), max(high, e.win.cwnd/mss)
	}
	if low < threshold-2*10 || high > threshold+10 { // sqrt(200 / 2) = 10
		t.Errorf("the window swings from %d to %d about %d", low, high, threshold)
	}
}

// TestExactEcho: RFC 8257, section 3.2: the echo follows the marks. With delayed
// ACKs a change is told at once, and what waits is acknowledged with the old
// echo first.
func TestExactEcho(t *testing.T) {
	type told struct {
		ack int64
		ece bool
	}
	marks := []packet.ECN{packet.ECT0, packet.ECT0, packet.ECT0, packet.CE, packet.CE, packet.CE, packet.ECT0}
	for each, want := range map[int][]told{
		1: {{1, false}, {2, false}, {3, false}, {4, true}, {5, true}, {6, true}, {7, false}},
		2: {{2, false}, {3, false}, {4, true}, {6, true}, {7, false}},
		3: {{3, false}, {4, true}, {6, true}, {7, false}},
	} {
		c := config("dctcp")
		c.DelayedAck, c.AckTimeout = each, ms
		r := newRig(t, c)
		for i, ecn := range marks {
			r.data(int64(i)*mss, mss, ecn)
		}
		var got []told
		for _, k := range r.out {
			got = append(got, told{k.Segment.Ack / mss, k.ECE})
		}
		if len(got) != len(want) {
			t.Errorf("an ACK every %d: told %v, want %v", each, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("an ACK every %d: told %v, want %v", each, got, want)
			}
		}
	}
}

// TestMarkedAckIsIgnored: a mark on a pure ACK is counted and changes nothing.
func TestMarkedAckIsIgnored(t *testing.T) {
	r := newRig(t, config("dctcp"))
	k := ackOf(0, 0)
	k.ECN = packet.CE
	r.in(k)
	if len(r.out) != 0 || r.rcv.ce || r.n.CEReceived != 1 {
		t.Errorf("sent %d, echo %v, counted %d", len(r.out), r.rcv.ce, r.n.CEReceived)
	}
}

func TestControlParams(t *testing.T) {
	for control, bad := range map[string]map[string][]any{
		"dctcp":    {"g": {0, -0.1, 1.5}, "initial_alpha": {-0.1, 1.1}, "min_window": {0}},
		"ecn-star": {"min_window": {0, -1}},
		"cubic":    {"beta": {0, 1}, "c": {0}},
		"reno":     {"g": {1}},
	} {
		for param, values := range bad {
			for _, v := range values {
				c := config(control)
				c.Control.Params = map[string]any{param: v}
				if _, err := NewStack(nil, nil, nil, c); err == nil {
					t.Errorf("%s takes %s = %v", control, param, v)
				}
			}
		}
	}
	c := config("dctcp")
	c.Control = kind.Choice{Kind: "dctcp", Params: map[string]any{"g": 1, "initial_alpha": 0, "min_window": 1, "grow_on_echo": true}}
	if _, err := NewStack(nil, nil, nil, c); err != nil {
		t.Error(err)
	}
}
