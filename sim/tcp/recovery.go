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
