package tcp

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
	c.again = e.echo.marked && e.una <= e.echo.cut
	e.control.cut(&e.win, c)
	e.reacted(c.cause)
}

// reacted notes that the window was cut for what has been sent so far.
func (e *Endpoint) reacted(c cause) {
	e.echo = reaction{cut: e.nxt, marked: c == marked, cwr: e.stack.family.echo != echoNever}
}
