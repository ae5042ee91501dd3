package tcp

import (
	"slices"
	"time"

	"aqmlab/switch/packet"
)

// maxBlocks is how many SACK blocks fit beside timestamps (RFC 2018, section 3).
const maxBlocks = 3

// sackBytes is what the SACK option takes with that many blocks (RFC 2018,
// section 3), padded as RFC 7323, appendix A, shows.
func sackBytes(blocks int) int {
	if blocks == 0 {
		return 0
	}
	return 4 + 8*blocks
}

// receiver is the state of what an endpoint receives.
type receiver struct {
	next    int64         // first byte that has not come in order
	acked   int64         // next, when it was last told (Last.ACK.sent of RFC 7323)
	stamp   time.Duration // to be echoed (TS.Recent of RFC 7323)
	held    spans         // what came out of order
	recent  [maxBlocks]packet.Block
	blocks  int  // of recent that count
	pending int  // segments with payload that came since an acknowledgement went
	ce      bool // the ECN echo to give
	count   ceCounter
	delay   alarm
	space   receiveBuffer
	acks    ackPolicy
}

func (r *receiver) reset() {
	held, delay := spans{r.held.runs[:0]}, r.delay
	*r = receiver{held: held, delay: delay}
}

// stamped notes the stamp to echo: of the earliest segment that is not
// acknowledged, or of the last in order when there is a gap (RFC 7323, section
// 4.3).
func (r *receiver) stamped(s *packet.Segment) {
	if s.Seq <= r.acked && s.Stamp > r.stamp {
		r.stamp = s.Stamp
	}
}

// takeData takes the payload of a segment. Out of order, and where it fills a
// gap, it is acknowledged at once (RFC 5681, section 4.2).
func (e *Endpoint) takeData(now time.Duration, k *packet.Packet) {
	r, s := &e.rcv, &k.Segment
	urgent := e.takeMark(now, k)
	end := s.Seq + int64(s.Len)
	switch {
	case end <= r.next: // again
		e.acknowledge(now)
		return
	case s.Seq > r.next:
		e.widen(s)
		run, _ := r.held.add(packet.Block{First: s.Seq, End: end})
		r.report(run, 1)
		e.acknowledge(now)
		return
	}
	// The application takes what was pushed at once, and Linux acknowledges what
	// it takes of that: without it, the end of every message of an odd number of
	// segments would wait for longer than the sender's timeout.
	urgent = urgent || r.blocks > 0 || s.Flags&packet.PSH != 0
	old, life := r.next, e.life
	r.advance(end)
	r.pending++
	e.buffered(now, s, r.next-old)
	e.user.Delivered(now, r.next-old)
	if e.life != life { // released
		return
	}
	switch {
	case r.pending == 0: // acknowledged by what the user wrote
	case urgent || r.pending >= e.stack.config.DelayedAck || r.hasty() || e.stack.family.prompt:
		e.acknowledge(now)
	case !r.delay.set:
		r.delay.start(now + e.stack.config.AckTimeout)
	}
	e.read(now, s)
}

// takeMark lets a segment with payload change the echo, and tells whether it
// has to be acknowledged at once. DCTCP's echo says of each byte whether it came
// marked (RFC 8257, section 3.2): before it changes, what waits for a delayed
// acknowledgement gets one with the old echo, as in the state machine of the
// DCTCP paper. Otherwise the echo stands from a mark until the sender says that
// it has reduced its window (RFC 3168, section 6.1.3).
func (e *Endpoint) takeMark(now time.Duration, k *packet.Packet) (urgent bool) {
	r, marked := &e.rcv, k.ECN == packet.CE
	switch e.stack.family.echo {
	case echoUntilCWR:
		r.ce = marked || r.ce && k.Segment.Flags&packet.CWR == 0
	case echoExactly:
		if marked == r.ce {
			return false
		}
		if r.pending > 0 {
			e.acknowledge(now)
		}
		r.ce = marked
		return true
	case echoCounts:
		return r.count.due(marked)
	}
	return false
}

// advance takes the bytes up to end in order, and those held that follow.
func (r *receiver) advance(end int64) {
	r.next = end
	if r.blocks == 0 {
		return
	}
	for _, run := range r.held.runs {
		if run.First > r.next {
			break
		}
		r.next = max(r.next, run.End)
	}
	r.held.trim(r.next)
	r.report(packet.Block{}, 0)
}

// report chooses the SACK blocks to send (RFC 2018, section 4): first n new ones,
// then those sent before that are not part of run, then other runs that are held.
func (r *receiver) report(run packet.Block, n int) {
	list := [maxBlocks]packet.Block{run}
	for _, b := range r.recent[:r.blocks] {
		if n < maxBlocks && b.End > r.next && (b.First < run.First || b.End > run.End) {
			list[n] = b
			n++
		}
	}
	for i := len(r.held.runs) - 1; i >= 0 && n < min(maxBlocks, len(r.held.runs)); i-- {
		if b := r.held.runs[i]; !slices.Contains(list[:n], b) {
			list[n] = b
			n++
		}
	}
	r.recent, r.blocks = list, n
}

// ackPolicy is how soon a receiver acknowledges, by Linux's rules. Names in brackets
// are those of Linux 6.1.
type ackPolicy struct {
	quick  int           // how many more segments are acknowledged at once (icsk_ack.quick)
	chatty bool          // data is answered by data, which acknowledges it (pingpong mode)
	last   time.Duration // when data came last
	some   bool          // any did
}

// came notes that data came. What begins, or begins again after a timeout's
// time, may be slow start, for which every acknowledgement counts
// (tcp_event_data_recv).
func (p *ackPolicy) came(now, rto time.Duration, most int) {
	if !p.some || now-p.last > rto {
		p.quick = max(p.quick, most)
	}
	p.last, p.some = now, true
}

// answered notes that data is sent (tcp_event_data_sent).
func (p *ackPolicy) answered(now, delay time.Duration) {
	p.chatty = p.chatty || p.some && now-p.last < delay
}

// hasty tells whether the next segment is to be acknowledged at once.
func (r *receiver) hasty() bool { return r.acks.quick > 0 && !r.acks.chatty }

// delayed is when an acknowledgement has been delayed for long enough: data is
// not answered by data.
func (e *Endpoint) delayed(now time.Duration) {
	e.rcv.acks.chatty = false
	e.acknowledge(now)
}
