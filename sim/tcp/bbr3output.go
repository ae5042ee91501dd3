package tcp

import (
	"math"
	"time"
)

// measureRTT remembers the shortest round trip, and looks for it with half of the
// bandwidth-delay product under way when none as short was seen for ten seconds
// (UpdateMinRTT, CheckProbeRTT). How much that is, is computed before a longer one may
// take its place.
func (c *bbr3) measureRTT(w *window, s *sample) {
	p := &c.path
	p.stale = p.shortest >= 0 && s.now > p.since+bbrShortest
	if p.stale && c.state != bbr3ProbeRTT {
		_, gain := bbr3ProbeRTT.gains()
		c.probeWindow = max(p.product(w, gain), bbrLeast*w.mss)
	}
	if s.rtt >= 0 && (p.shortest < 0 || s.rtt < p.shortest || p.stale) {
		p.shortest, p.since = s.rtt, s.now
	}
	if p.stale && !c.resumed && c.state != bbr3ProbeRTT {
		c.save(w)
		c.state, c.probeDone, c.acks = bbr3ProbeRTT, 0, acksStopping
		p.roundEnd = s.rate.total
	}
	if c.state == bbr3ProbeRTT {
		c.probeRTT(w, s)
	}
}

// probeRTT stays for 200 ms and a round trip with little under way (HandleProbeRTT).
func (c *bbr3) probeRTT(w *window, s *sample) {
	s.meter.lack(s.pipe)
	switch {
	case c.probeDone == 0 && s.pipe <= c.probeWindow:
		c.probeDone, c.probeRound = s.now+bbrProbe, false
		c.path.roundEnd = s.rate.total
	case c.probeDone > 0:
		c.probeRound = c.probeRound || c.path.roundStart
		if c.probeRound {
			c.endProbeRTT(w, s)
		}
	}
}

func (c *bbr3) endProbeRTT(w *window, s *sample) {
	if c.probeDone == 0 || s.now <= c.probeDone {
		return
	}
	c.path.since = s.now
	w.cwnd = max(w.cwnd, c.prior)
	c.path.resetShort()
	if !c.full {
		c.state = bbr3Startup
		return
	}
	c.goDown(s)
	c.state = bbr3Cruise
}

// save remembers the window for after a recovery or a probe of the round trip.
func (c *bbr3) save(w *window) {
	if c.repairing || c.state == bbr3ProbeRTT {
		c.prior = max(c.prior, w.cwnd)
	} else {
		c.prior = w.cwnd
	}
}

// setRate paces by the state's gain. Until the pipe was full once the rate does not fall.
func (c *bbr3) setRate(w *window, s *sample) {
	if !c.srtt && s.srtt > 0 {
		c.srtt = true
		c.paceFirst(w, s.srtt)
	}
	gain, _ := c.state.gains()
	c.paceAt(w, gain)
}

func (c *bbr3) paceAt(w *window, gain float64) {
	if r := gain * bbrMargin * c.path.bandwidth(); r > 0 && (c.full || r > w.rate) {
		w.rate = r
	}
	c.setBurst(w)
}

// setBurst is SetSendQuantum, in whole segments.
func (c *bbr3) setBurst(w *window) {
	burst := int64(w.rate / 1000)
	w.burst = max(min(burst-burst%w.mss, 1<<16/w.mss*w.mss), 2*w.mss)
}

// inflight is a gain over the bandwidth-delay product with room for bursts.
func (c *bbr3) inflight(w *window, gain float64) int64 {
	return c.budget(w, c.path.product(w, gain))
}

// budget is QuantizationBudget.
func (c *bbr3) budget(w *window, bytes int64) int64 {
	bytes = max(bytes, 3*w.burst, bbrLeast*w.mss)
	if c.state == bbr3Up {
		bytes += 2 * w.mss
	}
	return bytes
}

// roomy is what may be under way with room left for others (InflightWithHeadroom).
func (c *bbr3) roomy(w *window) int64 {
	if c.path.long == math.MaxInt64 {
		return math.MaxInt64
	}
	room := max(w.mss, int64(bbrHeadroom*float64(c.path.long)))
	return max(c.path.long-room, bbrLeast*w.mss)
}

// setWindow is SetCwnd. What a recovery changed is undone at its end.
func (c *bbr3) setWindow(w *window, s *sample) {
	if c.repairing && !s.repairing {
		c.repairing = false
		w.cwnd = max(w.cwnd, c.prior)
	}
	_, gain := c.state.gains()
	target := c.budget(w, c.path.product(w, gain)+c.path.extraMost(c.full))
	if c.full {
		w.cwnd = min(w.cwnd+s.arrived, target)
	} else if w.cwnd < target || s.rate.total < 10*w.mss {
		w.cwnd += s.arrived
	}
	w.cwnd = max(w.cwnd, bbrLeast*w.mss)
	if c.state == bbr3ProbeRTT {
		w.cwnd = min(w.cwnd, c.probeWindow)
	}
	bound := c.path.short
	switch {
	case c.state == bbr3ProbeRTT || c.state == bbr3Cruise:
		bound = min(bound, c.roomy(w))
	case c.state.cycling():
		bound = min(bound, c.path.long)
	}
	w.cwnd = min(w.cwnd, max(bound, bbrLeast*w.mss))
}

// cut remembers the window before a recovery. The model follows with the
// acknowledgements.
func (c *bbr3) cut(w *window, _ congestion) {
	c.save(w)
	c.repairing = true
	w.ssthresh = w.cwnd
}

// resume paces data after idle time at the rate of the path (HandleRestartFromIdle).
func (c *bbr3) resume(w *window, now time.Duration) {
	c.resumed = true
	c.path.extraFrom = now
	switch {
	case c.state.cycling():
		c.paceAt(w, 1)
	case c.state == bbr3ProbeRTT && c.probeDone > 0 && now > c.probeDone:
		c.probeRound = true
	}
}
