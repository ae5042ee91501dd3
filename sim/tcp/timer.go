package tcp

import (
	"math"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// purpose is what the one alarm of a sender is set for. It never rings later than
// the retransmission timer would (RFC 8985, section 8).
type purpose uint8

const (
	forTimeout    purpose = iota
	forProbe              // a tail loss probe is due
	forReordering         // what is late will be lost
)

// restart sets the retransmission timer anew, or stops it when all is
// acknowledged (RFC 6298, section 5).
func (e *Endpoint) restart(now time.Duration) {
	e.expires, e.purpose = now+e.rtt.rto, forTimeout
	if e.una == e.nxt {
		e.retransmit.stop()
	} else {
		e.retransmit.start(e.expires)
	}
}

// resume sets the retransmission timer to when it would have rung.
func (e *Endpoint) resume() {
	e.purpose = forTimeout
	e.retransmit.start(e.expires)
}

// arm sets the alarm to what RACK-TLP waits for, after something was sent or
// acknowledged.
func (e *Endpoint) arm(now time.Duration) {
	switch r := &e.rack; {
	case !e.stack.rack || e.una == e.nxt:
	case r.settled > 0 && r.settled < e.expires:
		e.purpose = forReordering
		e.retransmit.start(r.settled)
	case e.mayProbe():
		e.purpose = forProbe
		e.retransmit.start(min(now+e.probeTimeout(), e.expires))
	default:
		e.resume()
	}
}

// ring does what the alarm was set for.
func (e *Endpoint) ring(now time.Duration) {
	switch e.purpose {
	case forProbe:
		e.sendProbe(now)
	case forReordering:
		e.resume()
		e.detect(now, e.flight(), false)
		e.push(now)
		e.arm(now)
	default:
		e.timeout(now)
	}
}

// timeout is called when the retransmission timer expires (RFC 6298, section 5). What
// is lost is sent again in slow start, from the first byte on. A fast recovery under
// way ends (RFC 6675, section 5.1). Only the first timeout sets the threshold (RFC
// 5681, section 3.1).
func (e *Endpoint) timeout(now time.Duration) {
	e.counters.Timeouts++
	e.resends.timeouts++
	again := e.rtt.backoffs > 0
	e.rtt.backOff(&e.stack.config)
	if e.state != established {
		e.sendSYN(now)
		return
	}
	if !again || e.steer != nil {
		e.cut(congestion{cause: timedOut, flight: e.flight(), timeouts: e.rtt.backoffs})
	} else {
		e.reacted(timedOut)
	}
	e.win.collapse()
	e.reduction = reduction{}
	e.board.revive(e.una, e.nxt)
	if e.stack.rack {
		e.rack.expire(now)
		e.resend(now, e.rack.head)
	}
	e.push(now)
}

// estimator computes the retransmission timeout (RFC 6298). Timestamps make
// every sample a sound one, those of segments sent again too (RFC 7323, section
// 4), so that each ends the back-off. The RFC's rule of 3 seconds after the loss
// of a SYN is for timeouts that labs do not have, and left out.
type estimator struct {
	srtt, rttvar float64 // ns
	sampled      bool
	rto          time.Duration // backed off
	backoffs     int           // timeouts since the last sample
}

// sample takes a round-trip time. expected is how many samples come in one round
// trip; their weights are divided by it, so that the memory spans as many round
// trips as with one (RFC 7323, appendix G).
func (r *estimator) sample(c *Config, m time.Duration, expected int64) {
	rtt := float64(m)
	if !r.sampled {
		r.srtt, r.rttvar, r.sampled = rtt, rtt/2, true
	} else {
		// The conversions keep a machine from fusing two operations, which would
		// round otherwise than on one that cannot.
		share := 1 / float64(expected)
		r.rttvar += float64(share / 4 * (math.Abs(r.srtt-rtt) - r.rttvar))
		r.srtt += float64(share / 8 * (rtt - r.srtt))
		if r.rttvar < 1 { // over a quiet path it would shrink until arithmetic gets slow
			r.rttvar = 1
		}
	}
	rto := time.Duration(r.srtt + max(float64(c.Granularity), float64(4*r.rttvar)))
	r.rto, r.backoffs = min(max(rto, c.RTOMin), c.RTOMax), 0
}

// backOff doubles the timeout.
func (r *estimator) backOff(c *Config) {
	r.backoffs++
	r.rto = min(2*r.rto, c.RTOMax)
}

// alarm is a timer that is put off far more often than it rings. Putting it off and
// stopping it do not touch the event loop: the timer below fires at the time that
// was set first, and only then is scheduled for the right time.
type alarm struct {
	timer event.Timer
	due   time.Duration
	set   bool
	loop  *event.Loop
	ring  func(now time.Duration)
}

func (a *alarm) init(loop *event.Loop, ring func(now time.Duration)) {
	a.loop, a.ring = loop, ring
	a.timer.Does(a)
}

// Fire is when the timer runs out.
func (a *alarm) Fire(now time.Duration) {
	switch {
	case !a.set:
	case now < a.due:
		a.loop.Schedule(&a.timer, a.due)
	default:
		a.set = false
		a.ring(now)
	}
}

// Near does nothing: few alarms ring.
func (a *alarm) Near() {}

// start sets the alarm, or moves it.
func (a *alarm) start(due time.Duration) {
	a.set, a.due = true, due
	if !a.timer.Pending() || a.timer.At() > due {
		a.loop.Schedule(&a.timer, due)
	}
}

func (a *alarm) stop() { a.set = false }

// remove stops the alarm and takes its timer off the loop.
func (a *alarm) remove() {
	a.set = false
	a.loop.Cancel(&a.timer)
}

// mayProbe tells whether a probe may be sent before the timeout: when nothing is
// known to be missing (section 7.2), and no probe is under way (section 7.3). Linux
// sends none without RACK. Between two probes a round trip must have been measured,
// which every acknowledgement of new data does.
func (e *Endpoint) mayProbe() bool {
	return !e.rack.counts && e.board.phase == open && len(e.board.sacked.runs) == 0 && e.rack.probe.end == 0 && e.rtt.sampled
}

// probeTimeout is the time without an acknowledgement after which a probe is sent
// (section 7.2). The acknowledgement of a single segment may be delayed.
func (e *Endpoint) probeTimeout() time.Duration {
	c := &e.stack.config
	wait := time.Duration(2 * e.rtt.srtt)
	if e.rack.tail-e.rack.head == 1 && c.DelayedAck > 1 {
		wait += c.AckTimeout
	}
	return wait
}

// sendProbe sends new data, or if there is none the last segment again, whatever the
// window (section 7.3). It sends nothing while the segment still waits for the
// host's own uplink.
func (e *Endpoint) sendProbe(now time.Duration) {
	if e.uplink.leaves <= now {
		n := e.fresh()
		if n > 0 {
			e.sendNew(now, n)
		} else {
			e.resend(now, e.rack.tail-1)
		}
		e.rack.probe = probe{end: e.nxt, again: n == 0}
		e.counters.Probes++
	}
	e.restart(now)
}

// probed takes what an acknowledgement tells of a probe (section 7.4). If the last
// segment and the probe that repeats it have both arrived, a duplicate
// acknowledgement says so. Otherwise the probe repaired a loss, and the window is cut
// as for any other.
func (e *Endpoint) probed(k *packet.Packet, acked bool) {
	p, s := &e.rack.probe, &k.Segment
	switch {
	case p.end == 0 || s.Ack < p.end:
	case !p.again:
		p.end = 0
	case s.Ack > p.end:
		p.end = 0
		e.reduction.end(&e.win) // of a window that is held for a mark
		e.cut(congestion{cause: lost, flight: e.win.cwnd})
	case !acked && s.Blocks == 0 && s.Len == 0:
		p.end = 0
	}
}
