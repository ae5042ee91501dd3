package tcp

// answer answers a mark. With [Config.Hold] the window then comes down in the
// course of a round trip, and stays where it came to until something that was
// sent after the mark is acknowledged (Linux's state TCP_CA_CWR).
func (e *Endpoint) answer() {
	before := e.win.cwnd
	e.cut(congestion{cause: marked})
	if e.stack.config.Hold && e.board.phase == open {
		e.reduction = reduction{target: e.win.ssthresh, flight: before}
	}
}

// held tells whether the window is held for a mark.
func (e *Endpoint) held() bool { return e.board.phase == open && e.reduction.target > 0 }

// follow brings a window that is held down as data arrives.
func (e *Endpoint) follow(progress bool) {
	r := &e.rack
	if r.news > 0 && e.held() {
		e.win.cwnd = e.reduction.window(r.pipe, r.news, e.win.mss, progress)
	}
	r.news = 0
}
