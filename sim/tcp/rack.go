package tcp

import (
	"time"

	"aqmlab/switch/packet"
)

// rack finds losses by time (RFC 8985, section 6). A segment is late when one that was
// sent after it has arrived. It is lost when it stays late for longer than reordering
// takes. The same holds for segments that are sent again. With counts it finds losses
// as Linux does without RACK, see [rack.count].
type rack struct {
	transit
	counts    bool          // by what is SACKed, not by time
	meter     *meter        // of a control that is metered
	last      int64         // turn of what was sent last of all that arrived (RACK.segment)
	rtt       time.Duration // of what arrived last (RACK.rtt)
	minRTT    time.Duration // least of the connection (RACK.min_RTT); zero: not measured
	fack      int64         // end of what arrived (RACK.fack)
	reordered bool          // some of it came out of order (RACK.reordering_seen)
	settled   time.Duration // when all that is late now is lost; zero: nothing is late
	probe     probe

	// Of the acknowledgement under way.

	arrived sending // what was sent last of what it tells to have arrived
	highest int64   // end of what arrived
	news    int64   // bytes that arrived
}

// sending is a moment of sending. The RFC orders these by time, and by place what
// is sent at one time; but in virtual time a segment may be sent again in the
// very instant in which one behind it was sent, so that turns are counted.
type sending struct {
	at   time.Duration
	turn int64
}

func (r *rack) reset() {
	ring := r.ring
	*r = rack{transit: transit{ring: ring}, counts: r.counts, meter: r.meter}
	r.transit.reset()
	if r.meter != nil {
		r.meter.reset()
	}
}

// acked takes a cumulative acknowledgement up to una, which echoes a stamp.
func (r *rack) acked(now time.Duration, una int64, echo time.Duration) {
	for r.head < r.tail {
		s := r.get(r.head)
		if s.end > una {
			return
		}
		if !s.sacked {
			r.delivered(now, r.head, s, echo)
		}
		r.pop(s)
	}
}

// blocks takes the SACK blocks of a segment, for bytes above those that are
// acknowledged and that are not in the set, and tells whether there are any.
func (r *rack) blocks(now time.Duration, s *packet.Segment, set *spans) (news bool) {
	for _, k := range s.SACK[:s.Blocks] {
		k.First = max(k.First, s.Ack)
		for gap := set.gap(k.First, k.End); gap.First < gap.End; gap = set.gap(k.First, k.End) {
			run, _ := set.add(gap)
			r.cover(now, gap, run)
			news = true
		}
	}
	return news
}

// cover takes the segments that SACKed bytes complete; run is all that is SACKed
// around these. Stamps tell nothing about what came out of order.
func (r *rack) cover(now time.Duration, b, run packet.Block) {
	for i := r.find(b.First + 1); i < r.tail && r.get(i).first < b.End; i++ {
		if s := r.get(i); run.First <= s.first && s.end <= run.End {
			r.delivered(now, i, s, s.at)
			r.sack(s)
		}
	}
}

// delivered takes a segment that arrived (steps 1 to 3 of RFC 8985, section 6.2). If
// it was sent again, an earlier copy may have been acknowledged. That is so when the
// acknowledgement comes too early or echoes an earlier stamp.
func (r *rack) delivered(now time.Duration, i int, s *segment, echo time.Duration) {
	if r.meter != nil {
		r.meter.arrives(now, s, i)
	}
	r.highest = max(r.highest, s.end)
	r.news += s.end - s.first
	rtt := now - s.at
	if !s.resent {
		if r.minRTT == 0 || rtt < r.minRTT {
			r.minRTT = rtt
		}
		r.reordered = r.reordered || s.end < r.fack
	} else if rtt < r.minRTT || echo < s.at {
		return
	}
	if s.turn > r.arrived.turn {
		r.arrived = sending{s.at, s.turn}
	}
}

// lose notes that a segment under way is lost.
func (r *rack) lose(i int) {
	r.transit.lose(i)
	if r.meter != nil {
		r.meter.loses(r.get(i), i, r.losses)
	}
}

// detect finds what is lost, after an acknowledgement or when it is time to
// (step 5), and tells whether anything is.
func (r *rack) detect(now time.Duration, p phase) (found bool) {
	if r.arrived.turn > 0 {
		r.rtt = now - r.arrived.at
		r.last = max(r.last, r.arrived.turn)
		r.arrived = sending{}
	}
	r.fack = r.highest
	if r.counts {
		return r.count()
	}
	late := r.rtt + r.window(p)
	r.settled = 0
	for i := r.oldest; i != none; {
		s := r.get(i)
		if s.turn > r.last {
			break
		}
		next := s.newer
		if s.at+late <= now {
			r.lose(i)
			found = true
		} else {
			r.settled = s.at + late
		}
		i = next
	}
	return found
}

// count finds what is lost by dupThresh segments that are SACKed above it. This is
// IsLost of RFC 6675, section 4, in segments; a segment that was sent again is left
// to the timeout.
func (r *rack) count() (found bool) {
	above := r.sacked
	for i := r.head; above >= dupThresh; i++ {
		switch s := r.get(i); {
		case s.sacked:
			above--
		case !s.lost && !s.resent:
			r.lose(i)
			found = true
		}
	}
	return found
}

// window is how much later than others a segment may arrive (step 4): not at all
// during a recovery, or once dupThresh segments are SACKed, as long as nothing
// ever came out of order. It does not grow, since there are no duplicate SACKs.
func (r *rack) window(p phase) time.Duration {
	if !r.reordered && (p != open || r.sacked >= dupThresh) {
		return 0
	}
	return r.minRTT / 4
}

// expire is what a timeout tells (section 6.3): the first segment is lost, and
// what should have been acknowledged by now; without RACK all is (RFC 6675,
// section 5.1).
func (r *rack) expire(now time.Duration) {
	late := r.rtt + r.window(reviving)
	for i := r.oldest; i != none && (r.counts || r.get(i).at+late <= now); i = r.oldest {
		r.lose(i)
	}
	if !r.get(r.head).lost {
		r.lose(r.head)
	}
	r.settled, r.probe.end = 0, 0
}

// probe is the tail loss probe of a sender (RFC 8985, section 7).
type probe struct {
	end   int64 // what had been sent behind it (TLP.end_seq); zero: none is under way
	again bool  // it was sent before (TLP.is_retrans)
}
