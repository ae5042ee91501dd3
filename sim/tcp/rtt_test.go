package tcp

import (
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestEstimator: RFC 6298, section 2, by hand.
func TestEstimator(t *testing.T) {
	c := config("reno")
	c.RTOMin = 1
	var r estimator
	for i, tt := range []struct {
		m, srtt, rttvar, rto time.Duration
	}{
		{100 * us, 100 * us, 50 * us, 300 * us},          // R, R/2, R + 4 R/2
		{100 * us, 100 * us, 37500, 250 * us},            // 3/4 * 50
		{180 * us, 110 * us, 48125, 302500},              // 3/4 * 37.5 + 1/4 * 80; 7/8 * 100 + 1/8 * 180
		{110 * us, 110 * us, 36093, 110*us + 144375},     // 3/4 * 48.125
		{30 * us, 100 * us, 47070, 100*us + 188281},      // 3/4 * 36.09375 + 1/4 * 80; 7/8 * 110 + 1/8 * 30
		{100 * us, 100 * us, 35302, 100*us + 141210},     // 3/4 * 47.0703125
		{10 * ms, 1337500, 2501477, 1337500 + 10_005908}, // 3/4 * 35.302734 + 1/4 * 9900
	} {
		r.sample(&c, tt.m, 1)
		if time.Duration(r.srtt) != tt.srtt || time.Duration(r.rttvar) != tt.rttvar || r.rto != tt.rto {
			t.Errorf("sample %d: %v, %v, %v; want %v, %v, %v", i, time.Duration(r.srtt), time.Duration(r.rttvar), r.rto, tt.srtt, tt.rttvar, tt.rto)
		}
	}
}

func TestEstimatorBounds(t *testing.T) {
	for name, tt := range map[string]struct {
		min, max, granularity, sample, want time.Duration
	}{
		"least":       {5 * ms, time.Second, 0, 100 * us, 5 * ms},
		"largest":     {5 * ms, time.Second, 0, 400 * ms, time.Second},
		"between":     {5 * ms, time.Second, 0, 3 * ms, 9 * ms},
		"granularity": {1, time.Second, 10 * ms, 3 * ms, 13 * ms},
	} {
		c := config("reno")
		c.RTOMin, c.RTOMax, c.Granularity = tt.min, tt.max, tt.granularity
		var r estimator
		if r.sample(&c, tt.sample, 1); r.rto != tt.want {
			t.Errorf("%s: %v, want %v", name, r.rto, tt.want)
		}
	}
}

// TestEstimatorManySamples: RFC 7323, appendix G: with ten samples a round trip,
// each has a tenth of the weight: 100 + 1/80 * 80 and 50 + 1/40 * (80 - 50).
func TestEstimatorManySamples(t *testing.T) {
	c := config("reno")
	var r estimator
	r.sample(&c, 100*us, 10)
	r.sample(&c, 180*us, 10)
	if r.srtt != 101_000 || r.rttvar != 50_750 {
		t.Errorf("%v, %v; want 101us, 50.75us", r.srtt, r.rttvar)
	}
}

// TestSamplesFollowTheEcho: the sample is the age of the stamp that an
// acknowledgement of new data echoes (RFC 7323, section 4.1).
func TestSamplesFollowTheEcho(t *testing.T) {
	p := newPair(t, config("reno"), 70*us).establish()
	p.loop.RunUntil(ms)
	p.ends[0].Write(ms, mss, Tag{})
	p.drain(t)
	if e := p.ends[0]; e.rtt.srtt != float64(140*us) || e.rtt.rto != 5*ms {
		t.Errorf("%v, timeout %v; want 140us, 5ms", time.Duration(e.rtt.srtt), e.rtt.rto)
	}
	if p.ends[1].rtt.sampled {
		t.Error("the receiver measured, with nothing sent")
	}
}

// TestBackOff: RFC 6298, section 5: the timeout doubles up to its bound, each
// expiry sends the first segment again, and a sample ends it.
func TestBackOff(t *testing.T) {
	c := config("reno")
	c.RTOMax = 60 * ms
	r := newRig(t, c)
	r.segments(3)
	var times []time.Duration
	for r.sent(); len(times) < 5; {
		r.loop.Step()
		if seqs := r.sent(); len(seqs) > 0 {
			if !slices.Equal(seqs, []int64{0}) {
				t.Errorf("sent %v", seqs)
			}
			times = append(times, r.loop.Now())
		}
	}
	want := []time.Duration{10 * ms, 30 * ms, 70 * ms, 130 * ms, 190 * ms} // 10, 20, 40, 60, 60 apart
	if !slices.Equal(times, want) {
		t.Errorf("sent again at %v, want %v", times, want)
	}
	if r.ack(mss); r.rtt.rto != 5*ms || r.retransmit.due != r.loop.Now()+5*ms {
		t.Errorf("after a sample, the timeout is %v, due %v", r.rtt.rto, r.retransmit.due)
	}
	if r.n.Timeouts != 5 || r.n.Retransmits != 5+2 { // and two go out in slow start
		t.Errorf("counted %+v", r.n)
	}
}

// TestTimerRestarts: RFC 6298, section 5.3: an acknowledgement of new data
// restarts the timer, and one of all data stops it.
func TestTimerRestarts(t *testing.T) {
	r := newRig(t, sackConfig("reno"))
	r.segments(3)
	r.at(4 * ms).ack(mss)
	if got := r.at(9*ms - 1).n.Timeouts; got != 0 {
		t.Errorf("%d timeouts before 9ms", got)
	}
	if got := r.at(9 * ms).n.Timeouts; got != 1 {
		t.Errorf("%d timeouts at 9ms, want 1", got)
	}
	r.ack(3 * mss)
	if got := r.at(time.Second).n.Timeouts; got != 1 || r.user.acked != 1 {
		t.Errorf("%d timeouts with nothing outstanding", got-1)
	}
}

// TestSYNTimeouts: a lost SYN or its answer costs a timeout. Two of them leave a
// window of one segment to the end that sent again, one does not (Linux 6.1,
// tcp_init_transfer).
func TestSYNTimeouts(t *testing.T) {
	for name, tt := range map[string]struct {
		lose     packet.Flags // the first segments with just these
		lost     int
		end      int
		timeouts int64
	}{
		"SYN":     {packet.SYN, 1, 0, 1},
		"SYNs":    {packet.SYN, 2, 0, 2},
		"answer":  {packet.SYN | packet.ACK, 1, 1, 1},
		"answers": {packet.SYN | packet.ACK, 3, 1, 2}, // after the first, SYN and answer are both sent again
	} {
		c := config("reno")
		p := newPair(t, c, 50*us)
		left := tt.lost
		p.rule = func(_ time.Duration, k *packet.Packet) fate {
			drop := k.Segment.Flags == tt.lose && left > 0
			if drop {
				left--
			}
			return fate{drop: drop}
		}
		p.open()
		p.drain(t)
		if p.users[0].established != 1 || p.users[1].established != 1 {
			t.Errorf("%s: established %d and %d times", name, p.users[0].established, p.users[1].established)
		}
		window := int64(c.InitCwnd) * mss
		if tt.timeouts > 1 {
			window = mss
		}
		if p.ends[tt.end].win.cwnd != window || p.n[tt.end].Timeouts != tt.timeouts {
			t.Errorf("%s: window %d, %+v", name, p.ends[tt.end].win.cwnd, p.n)
		}
	}
}

// TestOpenTimeout: a connection that is open already has a timeout from its
// handshake; one without waits for as long as before any sample.
func TestOpenTimeout(t *testing.T) {
	for open, want := range map[time.Duration]time.Duration{0: 10 * ms, 6 * ms: 6 * ms} {
		c := config("reno")
		c.RTOOpen = open
		r := newRig(t, c)
		r.segments(3)
		r.sent()
		r.at(want - 1)
		r.expect("before the timeout")
		r.at(want)
		r.expect("timeout", 0)
	}
}
