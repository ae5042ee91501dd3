package tcp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"aqmlab/switch/packet"
)

// TestProbeTimeout: RFC 8985, section 7.2: two round trips, and the longest delay
// of an ACK for a single segment, but no more than until the timeout, in whose
// place the probe is.
func TestProbeTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		segments   int64
		each       int
		ackTimeout time.Duration
		want       time.Duration
	}{
		"several":                   {3, 1, 0, 2 * ms},
		"several, delayed ACKs":     {3, 2, 2 * ms, 2 * ms},
		"one":                       {1, 1, 0, 2 * ms},
		"one, delayed ACKs":         {1, 2, 2 * ms, 4 * ms},
		"one, ACKs of long delay":   {1, 2, 40 * ms, 5 * ms},
		"one, ACKs not delayed":     {1, 1, 40 * ms, 2 * ms},
		"one, as late as a timeout": {1, 2, 3 * ms, 5 * ms},
	} {
		c := config("reno")
		c.DelayedAck, c.AckTimeout = tt.each, tt.ackTimeout
		r := timed(t, c, tt.segments)
		r.sent()
		if r.at(tt.want - 1); r.n.Probes != 0 {
			t.Errorf("%s: a probe before %v", name, tt.want)
		}
		r.at(tt.want)
		if got := r.sent(); !slices.Equal(got, []int64{tt.segments - 1}) || r.n != (Counters{Probes: 1, Retransmits: 1}) {
			t.Errorf("%s: sent %v at %v, %+v", name, got, tt.want, r.n)
		}
		// The timeout begins anew, and is the end of patience.
		if r.at(tt.want + 5*ms - 1); r.n.Timeouts != 0 {
			t.Errorf("%s: timeout within 5ms after the probe", name)
		}
		if r.at(tt.want + 5*ms); r.n.Timeouts != 1 || r.n.Probes != 1 {
			t.Errorf("%s: 5ms after the probe, %+v", name, r.n)
		}
	}
}

// TestNoProbe: without a measured round trip, and while something is known to be
// missing, there is none (sections 7.2 and 7.3); nor while what was sent has not
// left the host.
func TestNoProbe(t *testing.T) {
	unknown := newRig(t, config("reno"))
	unknown.segments(3)
	unknown.at(10 * ms)

	missing := timed(t, config("reno"), 3)
	missing.at(ms).ack(0, run(1, 2))
	missing.at(10 * ms)

	c := config("reno")
	c.SmallQueue = ms
	c.Backlog = func(time.Duration, int) time.Duration { return 3 * ms }
	crowded := timed(t, c, 1)
	crowded.at(7 * ms) // 2ms, and 5ms

	for name, r := range map[string]*rig{"unknown": unknown, "missing": missing, "crowded": crowded} {
		if r.n.Probes != 0 || r.n.Timeouts == 0 {
			t.Errorf("%s: %+v", name, r.n)
		}
	}
}

// TestProbeOfNewData: new data goes out as the probe, beyond the window; that it
// is acknowledged tells of no loss.
func TestProbeOfNewData(t *testing.T) {
	r := timed(t, config("reno"), 13)
	r.sent()
	r.at(2*ms).expect("the probe", 10)
	r.at(3 * ms).ack(11 * mss)
	r.at(4 * ms).ack(13 * mss)
	if r.win.cwnd < 10*mss || r.n != (Counters{Probes: 1}) || r.user.acked != 1 {
		t.Errorf("window %d, %+v, acked %d times", r.win.cwnd, r.n, r.user.acked)
	}
}

// TestProbeRepairs: the probe is what was lost. Nobody can tell yet when it is
// acknowledged, but the next acknowledgement does, and halves the window, once
// (section 7.4, case 3).
func TestProbeRepairs(t *testing.T) {
	r := timed(t, config("reno"), 3)
	r.sent()
	r.at(ms).ack(2 * mss)
	r.at(3*ms).expect("the probe", 2)
	if r.at(4 * ms).ack(3 * mss); r.win.cwnd != 10*mss {
		t.Errorf("window %d when the probe is acknowledged", r.win.cwnd)
	}
	r.segments(3)
	for n := int64(4); n <= 6; n++ {
		if r.at(5 * ms).ack(n * mss); r.win.cwnd != 5*mss || r.win.ssthresh != 5*mss {
			t.Errorf("window %d, threshold %d after %d", r.win.cwnd, r.win.ssthresh, n)
		}
	}
	if r.n != (Counters{Probes: 1, Retransmits: 1}) {
		t.Errorf("counted %+v", r.n)
	}
}

// TestNeedlessProbe: the acknowledgement was late, not lost. The duplicate that
// answers the probe says so, and the window stays (section 7.4, case 2).
func TestNeedlessProbe(t *testing.T) {
	r := timed(t, config("reno"), 3)
	r.sent()
	r.at(2*ms).expect("the probe", 2)
	r.at(2100 * us).ack(3 * mss)
	r.at(3 * ms).ack(3 * mss)
	r.segments(3)
	r.at(4 * ms).ack(6 * mss)
	if r.win.cwnd != 10*mss || r.n != (Counters{Probes: 1, Retransmits: 1}) {
		t.Errorf("window %d, %+v", r.win.cwnd, r.n)
	}
}

// TestNothingLost: as long as nothing is lost or overtaken nothing is sent again,
// no timer rings, and no probe goes out.
func TestNothingLost(t *testing.T) {
	for _, recovery := range recoveries {
		for _, each := range []int{1, 2} {
			c := config("cubic")
			c.LossRecovery, c.DelayedAck, c.AckTimeout = recovery, each, 200*us
			rng := rand.New(rand.NewPCG(8, uint64(each)))
			p := newPair(t, c, 50*us).establish()
			for i := range p.ends {
				left := 200
				p.users[i].onAcked = func(now time.Duration) {
					if left--; left > 0 {
						p.ends[i].Write(now, 1+rng.Int64N(60*mss), Tag{})
					}
				}
				p.ends[i].Write(0, mss, Tag{})
			}
			p.drain(t)
			if p.n != [2]Counters{} {
				t.Errorf("%s, an ACK every %d segments: %+v", recovery, each, p.n)
			}
		}
	}
}

// TestTails: of messages that lose a segment in fifty, RACK-TLP repairs nearly
// all without a timeout, which RFC 6675 cannot for the last segments of each.
func TestTails(t *testing.T) {
	timeouts := map[string]int64{}
	for _, recovery := range recoveries {
		c := config("reno")
		c.LossRecovery = recovery
		rng := rand.New(rand.NewPCG(9, 9))
		p := newPair(t, c, 50*us).establish()
		p.rule = func(_ time.Duration, k *packet.Packet) fate {
			return fate{drop: k.Segment.Len > 0 && rng.Float64() < 0.02}
		}
		left := 2000
		p.users[0].onAcked = func(now time.Duration) {
			if left--; left > 0 {
				p.ends[0].Write(now, 1+rng.Int64N(20*mss), Tag{})
			}
		}
		p.ends[0].Write(0, 20*mss, Tag{})
		p.drain(t)
		timeouts[recovery] = p.n[0].Timeouts
	}
	if timeouts[SACK] < 50 || timeouts[RACK] > timeouts[SACK]/10 {
		t.Errorf("%v timeouts: want at most a tenth with RACK", timeouts)
	}
}
