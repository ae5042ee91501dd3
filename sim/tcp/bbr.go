package tcp

import (
	"math"
	"time"
)

// bbr is BBR as Linux has it (tcp_bbr.c of 6.1, which is version 1: Cardwell et al., BBR:
// Congestion-Based Congestion Control, ACM Queue 2016, and
// draft-cardwell-iccrg-bbr-congestion-control-00; names in brackets are those of Linux).
// It knows the path by the highest rate at which it delivered in ten round trips and the
// shortest round trip in ten seconds. It paces data at a gain over that rate, and bounds
// what is under way by a gain over the product of the two. Losses and marks do not change
// what it knows.
//
// The estimate of a policer's rate is left out (lt_bw). What is to be random is made of
// the connection's hash.
type bbr struct {
	steered
	mode bbrMode

	rates      [bbrRounds]float64 // highest delivery rate of each of the last rounds, in bytes a second
	measured   int64              // round of the last of these
	round      int64              // round trips so far
	roundEnd   int64              // bytes delivered that end the one under way (next_rtt_delivered)
	roundStart bool               // this acknowledgement began one

	shortest   time.Duration // round trip (min_rtt); below zero: none yet
	shortestAt time.Duration

	fullRate  float64 // highest rate when it last grew
	fullCount int     // rounds since then
	full      bool    // the pipe was filled

	phase   int           // of the cycle of gains
	phaseAt time.Duration // when it began

	probeDone  time.Duration // end of the time with few segments under way; zero: it has not begun
	probeRound bool          // a round trip of it is over
	prior      int64         // window before it or before a recovery
	recovering bool
	conserving bool // the window is what arrives, in the first round trip of a recovery
	resumed    bool // data was sent after idle time, and none has arrived
	hash       uint32

	extra epoch // what acknowledgements bring beyond the rate
	srtt  bool  // a round trip has been measured
}

// epoch measures how many bytes acknowledgements bring at once (ack aggregation).
type epoch struct {
	began  time.Duration
	bytes  int64
	most   [2]int64 // in the spans before and now
	rounds int      // of this span
	now    int
}

type bbrMode uint8

const (
	bbrStartup bbrMode = iota
	bbrDrain
	bbrProbeBW
	bbrProbeRTT
)

const (
	bbrHigh        = 2.885 // gain of startup: 2 / ln 2
	bbrWindow      = 2.0   // gain of the window while probing for bandwidth
	bbrMargin      = 0.99  // of the rate that is paced (bbr_pacing_margin_percent)
	bbrRounds      = 10    // that the highest rate is remembered for
	bbrShortest    = 10 * time.Second
	bbrProbe       = 200 * time.Millisecond
	bbrLeast       = 4 // segments
	bbrPhases      = 8
	bbrGrowth      = 1.25
	bbrFullRounds  = 3
	bbrExtraRounds = 5
	bbrExtraMost   = 100 * time.Millisecond
	bbrFastEnough  = 1.2e6 / 8 // bytes a second above which two segments go together
)

// bbrGains are the gains of the rate while probing for bandwidth.
func bbrGains() [bbrPhases]float64 { return [bbrPhases]float64{1.25, 0.75, 1, 1, 1, 1, 1, 1} }

var _ steering = (*bbr)(nil)

func newBBR(struct{}, struct{}) (Family, error) {
	return Family{make: func() control { return &bbr{} }, metered: true}, nil
}

func (c *bbr) markedShare() float64 { return -1 }

func (c *bbr) open() { *c = bbr{shortest: -1} }

// begin paces the first window as if a round trip took a millisecond.
func (c *bbr) begin(w *window) { c.paceFirst(w, time.Millisecond) }

func (c *bbr) paceFirst(w *window, rtt time.Duration) {
	w.rate = bbrHigh * bbrMargin * float64(w.cwnd) / rtt.Seconds()
	c.setBurst(w)
}

func (c *bbr) steer(w *window, s *sample) {
	c.hash = s.hash
	c.countRound(s)
	c.measureExtra(w, s)
	c.turn(w, s)
	c.look(s)
	c.drain(w, s)
	c.probe(w, s)
	c.pace(w, s)
	c.setWindow(w, s)
	if s.arrived > 0 {
		c.resumed = false
	}
}

// rate is the highest delivery rate, in bytes a second.
func (c *bbr) rate() (r float64) {
	for _, x := range c.rates {
		r = max(r, x)
	}
	return r
}

// countRound begins a round trip when something arrived that was sent after the last one
// began, and remembers the rate (bbr_update_bw). A rate that the application limited
// counts only if it is the highest. Old rates are forgotten when there are new ones.
func (c *bbr) countRound(s *sample) {
	c.roundStart = false
	if !s.rate.some {
		return
	}
	if s.rate.prior >= c.roundEnd {
		c.roundEnd = s.rate.total
		c.round++
		c.roundStart, c.conserving = true, false
	}
	if r := s.rate.rate; !s.rate.limited || r >= c.rate() {
		for i := max(c.measured, c.round-bbrRounds) + 1; i <= c.round; i++ {
			c.rates[i%bbrRounds] = 0
		}
		c.measured = c.round
		now := &c.rates[c.round%bbrRounds]
		*now = max(*now, r)
	}
}

// measureExtra is bbr_update_ack_aggregation.
func (c *bbr) measureExtra(w *window, s *sample) {
	x := &c.extra
	if s.arrived <= 0 || !s.rate.some {
		return
	}
	if c.roundStart {
		if x.rounds++; x.rounds >= bbrExtraRounds {
			x.rounds, x.now = 0, 1-x.now
			x.most[x.now] = 0
		}
	}
	expected := int64(c.rate() * (s.now - x.began).Seconds())
	if x.bytes <= expected || x.bytes > 1<<20*w.mss {
		x.bytes, x.began, expected = 0, s.now, 0
	}
	x.bytes += s.arrived
	x.most[x.now] = max(x.most[x.now], min(x.bytes-expected, w.cwnd))
}

// turn goes on in the cycle of gains. A phase lasts for the shortest round trip; that of
// more also until as much more is under way, or something was lost; that of less no
// longer than there is a queue (bbr_is_next_cycle_phase).
func (c *bbr) turn(w *window, s *sample) {
	if c.mode != bbrProbeBW {
		return
	}
	gain, over := bbrGains()[c.phase], s.now-c.phaseAt > c.shortest
	switch {
	case gain > 1:
		over = over && (s.lost > 0 || s.flight >= c.inflight(w, gain))
	case gain < 1:
		over = over || s.flight <= c.inflight(w, 1)
	}
	if over {
		c.phase, c.phaseAt = (c.phase+1)%bbrPhases, s.now
	}
}

// look finds the pipe full when the rate has not grown by a quarter in three round trips.
func (c *bbr) look(s *sample) {
	switch r := c.rate(); {
	case c.full || !c.roundStart || s.rate.limited:
	case r >= bbrGrowth*c.fullRate:
		c.fullRate, c.fullCount = r, 0
	default:
		c.fullCount++
		c.full = c.fullCount >= bbrFullRounds
	}
}

// drain empties the queue that startup made, and then begins to probe.
func (c *bbr) drain(w *window, s *sample) {
	if c.mode == bbrStartup && c.full {
		c.mode = bbrDrain
	}
	if c.mode == bbrDrain && s.pipe <= c.inflight(w, 1) {
		c.cruise(s.now)
	}
}

// cruise begins the cycle of gains, at any phase but that of less.
func (c *bbr) cruise(now time.Duration) {
	const spread = 0x9e3779b1 // 2^32 over the golden ratio: rounds that follow each other differ
	c.mode, c.phaseAt = bbrProbeBW, now
	c.phase = (bbrPhases - int((c.hash+uint32(c.round)*spread)>>16)%(bbrPhases-1)) % bbrPhases
}

// probe remembers the shortest round trip, and looks for it with few segments under way
// when none as short was seen for ten seconds (bbr_update_min_rtt).
func (c *bbr) probe(w *window, s *sample) {
	stale := c.shortest >= 0 && s.now > c.shortestAt+bbrShortest
	if s.rtt >= 0 && (c.shortest < 0 || s.rtt < c.shortest || stale) {
		c.shortest, c.shortestAt = s.rtt, s.now
	}
	if stale && !c.resumed && c.mode != bbrProbeRTT {
		c.mode, c.probeDone = bbrProbeRTT, 0
		c.save(w)
	}
	if c.mode != bbrProbeRTT {
		return
	}
	s.meter.lack(s.pipe)
	switch {
	case c.probeDone == 0 && s.pipe <= bbrLeast*w.mss:
		c.probeDone, c.probeRound = s.now+bbrProbe, false
		c.roundEnd = s.rate.total
	case c.probeDone > 0:
		c.probeRound = c.probeRound || c.roundStart
		if c.probeRound {
			c.endProbe(w, s.now)
		}
	}
}

func (c *bbr) endProbe(w *window, now time.Duration) {
	if c.probeDone == 0 || now <= c.probeDone {
		return
	}
	c.shortestAt = now
	w.cwnd = max(w.cwnd, c.prior)
	if c.full {
		c.cruise(now)
	} else {
		c.mode = bbrStartup
	}
}

// save remembers the window for after a probe or a recovery.
func (c *bbr) save(w *window) {
	if c.recovering || c.mode == bbrProbeRTT {
		c.prior = max(c.prior, w.cwnd)
	} else {
		c.prior = w.cwnd
	}
}

// gains are those of the rate and of the window.
func (c *bbr) gains() (rate, window float64) {
	switch c.mode {
	case bbrStartup:
		return bbrHigh, bbrHigh
	case bbrDrain:
		return 1 / bbrHigh, bbrHigh
	case bbrProbeBW:
		return bbrGains()[c.phase], bbrWindow
	}
	return 1, 1
}

// pace sets the rate. In startup it does not fall.
func (c *bbr) pace(w *window, s *sample) {
	if !c.srtt && s.srtt > 0 {
		c.srtt = true
		c.paceFirst(w, s.srtt)
	}
	gain, _ := c.gains()
	c.setRate(w, gain)
}

func (c *bbr) setRate(w *window, gain float64) {
	if r := gain * bbrMargin * c.rate(); r > 0 && (c.full || r > w.rate) {
		w.rate = r
	}
	c.setBurst(w)
}

// setBurst has a millisecond of data go together, as Linux's super-packets are.
func (c *bbr) setBurst(w *window) {
	least := w.mss
	if w.rate >= bbrFastEnough {
		least = 2 * w.mss
	}
	burst := int64(w.rate / 1000)
	w.burst = min(max(burst-burst%w.mss, least), 1<<16/w.mss*w.mss)
}

// inflight is a gain over the bandwidth-delay product, with what batches of segments
// take: three bursts and two segments while probing for more (bbr_quantization_budget).
func (c *bbr) inflight(w *window, gain float64) int64 {
	return c.budget(w, c.product(w, gain))
}

func (c *bbr) product(w *window, gain float64) int64 {
	if c.shortest < 0 {
		return 10 * w.mss // TCP_INIT_CWND
	}
	return int64(math.Ceil(c.rate()*c.shortest.Seconds()*gain/float64(w.mss))) * w.mss
}

func (c *bbr) budget(w *window, bytes int64) int64 {
	bytes += 3 * w.burst
	if n := bytes / w.mss; n%2 > 0 {
		bytes += w.mss
	}
	if c.mode == bbrProbeBW && c.phase == 0 {
		bytes += 2 * w.mss
	}
	return bytes
}

// setWindow is bbr_set_cwnd.
func (c *bbr) setWindow(w *window, s *sample) {
	if s.arrived > 0 && !c.recover(w, s) {
		_, gain := c.gains()
		target := c.product(w, gain)
		if c.full {
			target += min(max(c.extra.most[0], c.extra.most[1]), int64(c.rate()*bbrExtraMost.Seconds()))
		}
		target = c.budget(w, target)
		if c.full {
			w.cwnd = min(w.cwnd+s.arrived, target)
		} else if w.cwnd < target || s.rate.total < 10*w.mss {
			w.cwnd += s.arrived
		}
		w.cwnd = max(w.cwnd, bbrLeast*w.mss)
	}
	if c.mode == bbrProbeRTT {
		w.cwnd = min(w.cwnd, bbrLeast*w.mss)
	}
}

// recover has the window follow what arrives in the first round trip of a recovery, and
// restores it at the end (bbr_set_cwnd_to_recover_or_restore). It tells whether the
// window is set.
func (c *bbr) recover(w *window, s *sample) bool {
	w.cwnd = max(w.cwnd-s.lost, w.mss)
	switch {
	case s.recovering && !c.recovering:
		c.recovering, c.conserving = true, true
		c.roundEnd = s.rate.total
		w.cwnd = s.pipe + s.arrived
	case !s.repairing && c.recovering:
		c.recovering, c.conserving = false, false
		w.cwnd = max(w.cwnd, c.prior)
	}
	if c.conserving {
		w.cwnd = max(w.cwnd, s.pipe+s.arrived)
	}
	return c.conserving
}

// cut remembers the window, and begins to look for a full pipe anew after a timeout. The
// window follows with the acknowledgements.
func (c *bbr) cut(w *window, e congestion) {
	c.save(w)
	w.ssthresh = w.cwnd
	if e.cause == timedOut {
		c.recovering, c.conserving = true, false
		c.fullRate, c.roundStart = 0, true
	}
}

// resume paces data after idle time at the rate of the path, and does not take the idle
// time for a shortest round trip that is out of date.
func (c *bbr) resume(w *window, now time.Duration) {
	c.resumed = true
	c.extra.bytes = 0
	switch c.mode {
	case bbrProbeBW:
		c.setRate(w, 1)
	case bbrProbeRTT:
		c.endProbe(w, now)
	}
}
