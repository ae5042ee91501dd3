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
	for pipe := e.board.pipe(e.una, e.nxt); pipe+e.win.mss <= e.win.cwnd; {
		n := e.sendNext(now)
		if n == 0 {
			return
		}
		pipe += n
	}
	e.limit.full = e.nxt
}

// sendNext sends what NextSeg (RFC 6675, section 4) says, and returns how many
// bytes these are.
func (e *Endpoint) sendNext(now time.Duration) int64 {
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

// timeout is the retransmission timer (RFC 6298, section 5). All that is
// outstanding and not SACKed counts as lost, and is sent again from the first
// byte on in slow start; a fast recovery under way is over (RFC 6675, section
// 5.1). The threshold is set by the first timeout only (RFC 5681, section 3.1).
// What is not acknowledged counts for it up to the window: beyond that are
// segments of limited transmit, and, during a recovery, those that are SACKed.
func (e *Endpoint) timeout(now time.Duration) {
	e.counters.Timeouts++
	again := e.rtt.backoffs > 0
	e.rtt.backOff(&e.stack.config)
	if e.state != established {
		e.sendSYN(now)
		return
	}
	if !again {
		e.cut(congestion{cause: timedOut, flight: min(e.nxt-e.una, e.win.cwnd)})
	} else {
		e.reacted(timedOut)
	}
	e.win.collapse()
	b := &e.board
	b.phase, b.recoveryPoint = reviving, e.nxt
	b.lost, b.highRxt, b.dupAcks = e.nxt, e.una, 0
	e.push(now)
}
