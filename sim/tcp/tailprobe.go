package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

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
