package tcp

import (
	"math"
	"time"

	"aqmlab/switch/packet"
)

// push sends what the window allows. Only the last segment may be short.
func (e *Endpoint) push(now time.Duration) {
	switch {
	case e.state != established:
		return
	case e.board.phase != open:
		e.recover(now)
		return
	case e.una == e.nxt && e.nxt < e.stream.end:
		e.restartIdle(now)
	}
	e.fill(now)
	e.validate(now)
}

// fill sends new data until the window, the other end's room or the host's uplink
// is full, or there is none.
func (e *Endpoint) fill(now time.Duration) {
	pipe := e.pipe()
	for {
		n := e.fresh()
		if n == 0 {
			break
		}
		if pipe+n > e.win.cwnd {
			e.limit.full = e.nxt
			return
		}
		if e.early(now, n) || e.uplinkFull(now) || e.defers(now, n, pipe) {
			return
		}
		e.sendNew(now, n)
		pipe += n
	}
	// In slow start, half of the window is use enough: the window has doubled
	// when what was sent with it is acknowledged.
	if e.win.slow() && 2*pipe >= e.win.cwnd {
		e.limit.full = e.nxt
	}
}

// fresh is how many bytes the next segment of new data has; none when there is
// nothing to send or the other end has no room. It leaves room for the SACK
// blocks that ride on data. With nothing under way a segment is as short as the
// other end wants it, without the timeout that RFC 9293, section 3.8.6.2.1, has
// before it.
func (e *Endpoint) fresh() int64 {
	n := min(e.stream.end-e.nxt, e.payload())
	room := e.room()
	switch {
	case n <= room:
		return n
	case e.una == e.nxt:
		return max(room, 0)
	}
	return 0
}

// offered takes the window that a segment tells. An acknowledgement of new data may
// take back what was offered, which a switch on its way makes it do; other segments
// only widen the window (tcp_may_update_window in Linux 6.1). Where receivers tell no
// window, the one that a switch tells ends with the next segment without.
func (e *Endpoint) offered(s *packet.Segment) {
	edge := s.Ack + int64(s.Window)
	if s.Window == 0 {
		if e.stack.config.Receive.Buffer > 0 {
			return
		}
		edge = math.MaxInt64
	}
	if s.Ack > e.una || edge > e.edge {
		e.edge = edge
	}
}

// room is how many bytes the other end takes beyond what was sent.
func (e *Endpoint) room() int64 {
	if w := e.stack.config.ReceiveWindow; w > 0 {
		return min(e.una+w, e.edge) - e.nxt
	}
	return e.edge - e.nxt
}

func (e *Endpoint) payload() int64 {
	return e.stack.mss - int64(sackBytes(e.rcv.blocks))
}

// superPacket is what a sender knows of the super-packet that it is sending. Linux's
// TCP queues data in such pieces, which the device or the layer above it cuts into
// segments. It waits until the window has room for much of a piece instead of
// sending little of it (tcp_tso_should_defer in Linux 6.1). The segments of a piece
// then go out together.
type superPacket struct {
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
	d, piece := &e.super, e.piece()
	if piece == 0 {
		return false
	}
	if d.left < n {
		if d.end <= e.nxt {
			d.end = e.nxt + piece
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

// piece is how long a super-packet is at most; zero: there are none.
func (e *Endpoint) piece() int64 {
	piece := e.stack.config.SuperPacket
	if b := e.win.burst; b > 0 {
		return min(piece, b)
	}
	return piece
}

// worthWaiting tells whether the rest of a super-packet should wait when there is
// room for some of it.
func (e *Endpoint) worthWaiting(now time.Duration, rest, room int64) bool {
	switch {
	case e.una == e.nxt || now-e.limit.sent > deferBound:
		return false // no acknowledgement is to come soon
	case room >= e.piece():
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

// uplink is what an endpoint knows of the link that its host sends by.
type uplink struct {
	leaves  time.Duration // when the last data that was sent will have left
	drained alarm         // for when more may be sent
}

// uplinkFull tells whether as much data waits for the host's uplink as may, and
// schedules the rest for later then. As long as the uplink is the limit, the window
// is not.
func (e *Endpoint) uplinkFull(now time.Duration) bool {
	bound := e.stack.config.SmallQueue
	if bound == 0 || e.uplink.leaves-now <= bound {
		return false
	}
	e.uplink.drained.start(e.uplink.leaves - bound)
	return true
}

// restartIdle prepares to send when everything is acknowledged. If nothing was sent
// for longer than a timeout, the window falls back to the initial one (RFC 5681,
// section 4.1), or towards it (tcp_cwnd_restart in Linux 6.1).
func (e *Endpoint) restartIdle(now time.Duration) {
	c := &e.stack.config
	e.limit.clock(now, false)
	idle := now - e.limit.sent
	initial := int64(c.InitCwnd) * e.win.mss
	if e.steer != nil {
		e.steer.resume(&e.win, now)
		return
	}
	switch {
	case !c.IdleRestart || idle <= e.rtt.rto:
	case c.Validation:
		e.win.remember()
		for idle -= e.rtt.rto; idle > 0 && e.win.cwnd > initial; idle -= e.rtt.rto {
			e.win.cwnd = max(e.win.share(1, 2), initial)
		}
		e.limit.tested, e.limit.used = now, 0
	default:
		e.win.cwnd = min(e.win.cwnd, initial)
	}
}

// validate is called after an attempt to send. A window that has not been the limit
// for the time of a timeout was not tested: it loses half of its unused part
// (tcp_cwnd_validate in Linux 6.1).
func (e *Endpoint) validate(now time.Duration) {
	c, l := &e.stack.config, &e.limit
	switch {
	case !c.Validation || !c.IdleRestart || e.steer != nil:
	case e.una < l.full:
		l.tested, l.used = now, 0
	default:
		l.used = max(l.used, e.nxt-e.una)
		if now-l.tested < e.rtt.rto {
			return
		}
		used := max(l.used, int64(c.InitCwnd)*e.win.mss)
		if !e.held() && used < e.win.cwnd {
			e.win.remember()
			e.win.cwnd = (e.win.cwnd + used) / 2 / e.win.mss * e.win.mss
		}
		l.tested, l.used = now, 0
	}
}
