package tcp

import "time"

// super is what a sender knows of the super-packet that it is sending. Linux's
// TCP queues data in such pieces, which the device or the layer above it cuts
// into segments, and rather waits for the window to have room for much of one
// than sends little of it (tcp_tso_should_defer in Linux 6.1). Its segments then
// go out together.
type super struct {
	end  int64 // of the super-packet
	left int64 // bytes of it that may go without asking again
}

const (
	deferShare = 3                // of the window: room for one part in so many is enough
	deferBound = time.Millisecond // longest wait, and silence after which nothing waits
)

// defers tells whether n bytes of new data wait for more room in the window, of
// which pipe is used. The window must have room for them.
func (e *Endpoint) defers(now time.Duration, n, pipe int64) bool {
	d := &e.super
	if e.stack.config.SuperPacket == 0 {
		return false
	}
	if d.left < n {
		if d.end <= e.nxt {
			d.end = e.nxt + e.stack.config.SuperPacket
		}
		rest := min(d.end, e.stream.end) - e.nxt
		room, offered := e.win.cwnd-pipe, e.room()
		if rest > n && e.worthWaiting(now, rest, min(room, offered)) {
			if room < offered && room <= rest {
				e.limit.full = e.nxt // the window it was
			}
			return true
		}
		half := e.win.cwnd / 2 / e.win.mss * e.win.mss // of the window, at most, at once
		d.left = max(min(rest, room, offered, half), n)
	}
	d.left -= n
	return false
}

// worthWaiting tells whether the rest of a super-packet should wait when there is
// room for some of it.
func (e *Endpoint) worthWaiting(now time.Duration, rest, room int64) bool {
	switch {
	case e.una == e.nxt || now-e.limit.sent > deferBound:
		return false // no acknowledgement is to come soon
	case room >= e.stack.config.SuperPacket:
		return false
	case room >= rest && e.super.end < e.stream.end:
		return false // it will not get longer
	case room >= min(e.win.cwnd, e.nxt-e.una+e.room())/deferShare:
		return false
	}
	srtt := time.Duration(e.rtt.srtt)
	due := e.rack.get(e.rack.head).at + srtt // the next acknowledgement
	return due-now <= min(srtt/2, deferBound)
}
