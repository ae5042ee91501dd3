package tcp

import "time"

// push sends what there is to send and the window allows. No segment is sent
// short but the last one.
func (e *Endpoint) push(now time.Duration) {
	switch {
	case e.state != established:
		return
	case e.board.phase != open:
		e.recover(now)
		return
	case e.una == e.nxt && e.nxt < e.stream.end:
		e.wake(now)
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
		if e.crowded(now) || e.defers(now, n, pipe) {
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
// blocks that ride on data.
func (e *Endpoint) fresh() int64 {
	n := min(e.stream.end-e.nxt, e.payload())
	if n > e.room() {
		return 0
	}
	return n
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
