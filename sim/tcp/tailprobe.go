package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// mayProbe tells whether a silence is to be answered by a probe before it is by a
// timeout: when nothing is known to be missing (section 7.2), and no probe is
// under way (section 7.3). Linux sends none without RACK where its timeouts are as
// short as its probes. The round trip that has to be measured between two
// probes then has been, since every acknowledgement of new data gives one.
func (e *Endpoint) mayProbe() bool {
	return !e.rack.counts && e.board.phase == open && len(e.board.sacked.runs) == 0 && e.rack.probe.end == 0 && e.rtt.sampled
}

// probeTimeout is the silence after which a probe is sent (section 7.2). The
// acknowledgement of a single segment may be delayed.
func (e *Endpoint) probeTimeout() time.Duration {
	c := &e.stack.config
	wait := time.Duration(2 * e.rtt.srtt)
	if e.rack.tail-e.rack.head == 1 && c.DelayedAck > 1 {
		wait += c.AckTimeout
	}
	return wait
}

// sendProbe sends new data, or if there is none what was sent last, whatever the
// window (section 7.3), unless the host's own uplink is the cause of the silence.
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

// probed takes what an acknowledgement tells of a probe (section 7.4). If both
// what was sent last and the probe that repeats it arrived, the probe is
// acknowledged by a duplicate; if it is not, the probe repaired a loss, to be
// answered like any other.
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
