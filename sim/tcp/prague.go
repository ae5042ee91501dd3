package tcp

import (
	"time"

	"aqmlab/switch/packet"
	"aqmlab/trafficgen/transport"
)

// prague is the congestion control of L4S (draft-briscoe-iccrg-prague-congestion-control,
// with the requirements of RFC 9331, section 4). It cuts the window as DCTCP does, by half
// of the share alpha of packets that came marked lately, but:
//
//   - Its packets are all ECT(1), and receivers count marks (RFC 9768).
//   - The window also grows while it is being cut, by what arrives unmarked.
//   - Data is paced at a window a round trip, and at two in slow start.
//   - Flows with short round trips come to grow as those with a longer, virtual one do:
//     in time as slowly, and with as many marks. This begins some round trips after slow
//     start, so that short flows are not held back.
//   - A loss halves the window, together with what marks have taken of it in that round
//     trip.
//
// Alpha says nothing before the first mark. Without one there is no queue that marks, and
// Prague is Reno. It does not look for queues that mark by RFC 3168 (section 4.3 of RFC
// 9331 wants that monitored). The window has no fractions of a segment below the least.
type prague struct {
	steered
	p     transport.Prague
	alpha float64
	rest  float64 // fraction of a byte by which the window has yet to change
	saw   bool    // a mark came

	roundEnd        int64 // what was sent when the round began
	arrived, marked int64 // bytes in the round
	rounds          int   // since slow start
	estimated       time.Duration

	cutEnd int64         // what was sent when the window was last cut for a mark; -1: never
	cutAt  time.Duration // when it was
	took   float64       // what that left of the window, as a share
}

var _ steering = (*prague)(nil)

func newPrague(p transport.Prague, _ struct{}) (Family, error) {
	return Family{make: func() control { return &prague{p: p} }, echo: echoCounts, data: packet.ECT1, others: packet.ECT1}, nil
}

func (c *prague) markedShare() float64 { return c.alpha }

func (c *prague) open() { *c = prague{p: c.p, alpha: c.p.InitialAlpha, cutEnd: -1, took: 1} }

func (c *prague) begin(*window) {}

func (c *prague) steer(w *window, s *sample) {
	marked := min(s.marks*w.mss, s.arrived)
	c.arrived += s.arrived
	c.marked += marked
	c.saw = c.saw || s.marks > 0
	if s.marks > 0 && s.una > c.cutEnd && s.now-c.cutAt >= c.virtual(s) {
		c.answer(w, s)
	}
	if s.limited && !s.recovering {
		c.grow(w, s, s.arrived-marked)
	}
	if s.una > c.roundEnd {
		c.estimate(w, s)
	}
	c.pace(w, s)
}

// virtual is the virtual round trip of a flow that is as slow as it makes flows; zero: it
// is not.
func (c *prague) virtual(s *sample) time.Duration {
	if c.rounds < c.p.Transition || s.srtt >= c.p.VirtualRTT {
		return 0
	}
	return c.p.VirtualRTT
}

// answer cuts the window for a mark.
func (c *prague) answer(w *window, s *sample) {
	c.cutEnd, c.cutAt, c.took = s.nxt, s.now, 1-c.alpha/2
	c.change(w, -float64(float64(w.cwnd)*c.alpha/2))
	w.ssthresh = w.cwnd
}

// grow adds a segment in a round trip, or a virtual one as long as many, in which the
// window is to be as large as it would be then: a share of the square.
func (c *prague) grow(w *window, s *sample, bytes int64) {
	if w.slow() {
		w.cwnd += min(bytes, w.leap)
		return
	}
	more := float64(bytes) / float64(w.cwnd) * float64(w.mss)
	if v := c.virtual(s); v > 0 {
		share := float64(s.srtt) / float64(v)
		more *= share * share
	}
	c.change(w, more)
}

// change adds bytes to the window, fractions of one included.
func (c *prague) change(w *window, by float64) {
	c.rest += by
	whole := int64(c.rest)
	c.rest -= float64(whole)
	w.cwnd += whole
	if least := int64(c.p.MinWindow) * w.mss; w.cwnd < least {
		w.cwnd, c.rest = least, 0
	}
}

// estimate ends a round trip, or a virtual one, and brings alpha up to date.
func (c *prague) estimate(w *window, s *sample) {
	if s.now-c.estimated < c.virtual(s) {
		return
	}
	if c.saw && c.arrived > 0 {
		share := float64(c.marked) / float64(c.arrived)
		c.alpha = float64(c.alpha*(1-c.p.G)) + float64(c.p.G*share) // conversions: see estimator.sample
	}
	c.roundEnd, c.arrived, c.marked, c.estimated = s.nxt, 0, 0, s.now
	if !w.slow() {
		c.rounds++
	}
}

// pace sets the rate. A burst may last for the time that is given for it, but for no more
// than a small share of the round trip.
func (c *prague) pace(w *window, s *sample) {
	const share = 8
	if s.srtt <= 0 {
		return
	}
	rate := float64(max(w.cwnd, s.pipe)) / s.srtt.Seconds()
	if w.cwnd < w.ssthresh/2 {
		rate *= 2
	}
	burst := int64(rate * min(c.p.Burst, s.srtt/share).Seconds())
	w.rate, w.burst = rate, max(burst-burst%w.mss, w.mss)
}

// cut halves the window for a loss. What a mark took of it within a round trip counts.
func (c *prague) cut(w *window, e congestion) {
	if e.timeouts > 1 {
		return // only the first of a row sets the threshold (RFC 5681, section 3.1)
	}
	left := 0.5
	if e.una <= c.cutEnd {
		left = min(left/c.took, 1)
	}
	w.shrink(int64(float64(w.cwnd)*left), int64(c.p.MinWindow), e.cause)
	c.rest, c.took = 0, 1
}
