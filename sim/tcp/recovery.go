package tcp

import "time"

// fastRetransmit begins fast recovery (RFC 6675, section 5, step 4): the first
// segment that is not acknowledged goes out whatever the window.
func (e *Endpoint) fastRetransmit(now time.Duration) {
	e.counters.FastRecoveries++
	b := &e.board
	b.phase, b.recoveryPoint = recovering, e.nxt
	e.cut(congestion{cause: lost, flight: b.highData - e.una})
	gap := b.sacked.gap(e.una, e.nxt)
	b.highRxt = min(gap.End, e.una+e.payload())
	b.rescueRxt = b.highRxt
	e.sendAgain(now, e.una, b.highRxt-e.una)
}

// recover sends what the window allows while losses are being repaired (RFC
// 6675, section 5, step C).
func (e *Endpoint) recover(now time.Duration) {
	for pipe := e.pipe(); pipe+e.win.mss <= e.win.cwnd; {
		if e.early(now, e.win.mss) {
			return
		}
		n := e.sendNext(now)
		if n == 0 {
			return
		}
		pipe += n
	}
	e.limit.full = e.nxt
}

// sendNext sends what RACK or NextSeg (RFC 6675, section 4) says, and returns how
// many bytes these are.
func (e *Endpoint) sendNext(now time.Duration) int64 {
	if e.stack.rack {
		return e.sendLost(now)
	}
	b := &e.board
	if gap, ok := b.repair(e.una); ok {
		n := min(gap.End-gap.First, e.payload())
		b.highRxt = gap.First + n
		e.sendAgain(now, gap.First, n)
		return n
	}
	if n := e.fresh(); n > 0 {
		e.sendNew(now, n)
		return n
	}
	gap, rescue, ok := b.guess(e.una, e.nxt, e.payload())
	if !ok {
		return 0
	}
	n := min(gap.End-gap.First, e.payload())
	if rescue {
		b.rescueRxt = b.recoveryPoint
	} else {
		b.highRxt = gap.First + n
	}
	e.sendAgain(now, gap.First, n)
	return n
}

// pipe estimates the bytes in the network.
func (e *Endpoint) pipe() int64 {
	if e.stack.rack {
		return e.rack.pipe
	}
	return e.board.pipe(e.una, e.nxt)
}

// flight is the window of data for a loss that is found now: the bytes that are not
// acknowledged, up to the window. Segments of limited transmit lie beyond it, and
// during a recovery those that are SACKed.
func (e *Endpoint) flight() int64 {
	if t := e.reduction.target; t > 0 && e.board.phase != open {
		return min(e.nxt-e.una, t)
	}
	return min(e.nxt-e.una, e.win.cwnd)
}

// detect looks for losses by time, begins a fast recovery when there are some and
// none is under way, and sets the window of one that is. progress says that bytes
// were acknowledged. A loss of what was sent again does not cut the window once
// more, as in Linux.
func (e *Endpoint) detect(now time.Duration, flight int64, progress bool) {
	r, b := &e.rack, &e.board
	found := r.detect(now, b.phase)
	if r.lost > 0 && b.phase == open {
		e.counters.FastRecoveries++
		b.phase, b.recoveryPoint = recovering, e.nxt
		r.probe.end = 0
		e.cut(congestion{cause: lost, flight: flight})
		if e.steer == nil {
			missing := e.nxt - e.una - b.sacked.within(e.una, e.nxt)
			e.reduction = reduction{target: min(e.win.cwnd, e.win.ssthresh), flight: missing + r.news}
		}
	}
	if b.phase == recovering && e.steer == nil {
		e.win.cwnd = e.reduction.window(r.pipe, r.news, e.win.mss, progress && !found)
	}
}

// sendLost sends the first segment that is lost again, or new data if none is, and
// returns how many bytes these are.
func (e *Endpoint) sendLost(now time.Duration) int64 {
	if r := &e.rack; r.lost > 0 {
		return e.resend(now, r.firstLost())
	}
	n := e.fresh()
	if n > 0 {
		e.sendNew(now, n)
	}
	return n
}

// resend sends a segment again and returns how many bytes it has. If SACK blocks
// left less room than there was, it goes out in two parts, which RACK takes for
// one. The timeout of the first segment begins anew, as in Linux.
func (e *Endpoint) resend(now time.Duration, i int) int64 {
	r := &e.rack
	r.resend(now, i)
	if r.meter != nil {
		r.meter.leaves(now, &r.transit, i)
	}
	s := *r.get(i)
	for seq := max(s.first, e.una); seq < s.end; {
		n := min(s.end-seq, e.payload())
		e.sendAgain(now, seq, n)
		seq += n
	}
	if i == r.head {
		e.restart(now)
	}
	return s.end - s.first
}

// reduction brings the window down over a fast recovery (Proportional Rate
// Reduction, RFC 9937). The sender sends in proportion to what arrives, so that no
// burst goes out when many losses are found at once.
type reduction struct {
	target    int64 // the window in the end (ssthresh); zero: nothing is reduced
	flight    int64 // bytes that were not known to have arrived when it began (RecoverFS)
	delivered int64 // bytes that arrived since (prr_delivered)
	sent      int64 // bytes sent since (prr_out)
}

// window is the window after news bytes arrived, with some in the network. safe
// says that the acknowledgement makes progress and tells of no further loss.
func (r *reduction) window(pipe, news, mss int64, safe bool) int64 {
	r.delivered += news
	var more int64
	if pipe > r.target {
		more = (r.delivered*r.target+r.flight-1)/r.flight - r.sent
	} else {
		more = max(r.delivered-r.sent, news, mss)
		if safe {
			more += mss
		}
		more = min(more, r.target-pipe)
	}
	if r.sent == 0 {
		more = max(more, mss) // the fast retransmit
	}
	return pipe + max(more, 0)
}

// end leaves the window that was aimed at.
func (r *reduction) end(w *window) {
	if r.target > 0 {
		w.cwnd = r.target
	}
	*r = reduction{}
}

// answerMark cuts the window for a mark. With [Config.Hold] the window comes down
// over a round trip, and then stays until data that was sent after the mark is
// acknowledged (Linux's state TCP_CA_CWR).
func (e *Endpoint) answerMark() {
	before := e.win.cwnd
	e.cut(congestion{cause: marked})
	if e.stack.config.Hold && e.board.phase == open {
		e.reduction = reduction{target: e.win.ssthresh, flight: before}
	}
}

// held tells whether the window is held for a mark.
func (e *Endpoint) held() bool { return e.board.phase == open && e.reduction.target > 0 }

// reduce brings a window that is held down as data arrives.
func (e *Endpoint) reduce(progress bool) {
	r := &e.rack
	if r.news > 0 && e.held() {
		e.win.cwnd = e.reduction.window(r.pipe, r.news, e.win.mss, progress)
	}
	r.news = 0
}

// cut answers a congestion event.
func (e *Endpoint) cut(c congestion) {
	c.una, c.again = e.una, e.echo.marked && e.una <= e.echo.cut
	e.control.cut(&e.win, c)
	e.reacted(c.cause)
}

// reacted notes that the window was cut for what has been sent so far.
func (e *Endpoint) reacted(c cause) {
	e.echo = reaction{cut: e.nxt, marked: c == marked, cwr: e.stack.family.echo.flagged()}
}
