package tcp

import (
	"math"
	"time"
)

// limiter knows whether the window is what limits the sender. Only then it
// grows, so that a sender with little to say does not gather a window that it
// never tested (RFC 7661).
type limiter struct {
	full    int64         // what was sent before this byte was sent while the window was the limit
	sent    time.Duration // when data was last sent
	counted time.Duration // up to when idle is known
	idle    time.Duration // how long the window was not the limit

	tested time.Duration // when the window last was the limit, or was taken for untested
	used   int64         // the most that was under way since then
}

// clock is the lab time without the idle time. limited says that the window was
// the limit for what was acknowledged now.
func (l *limiter) clock(now time.Duration, limited bool) time.Duration {
	if !limited {
		l.idle += now - l.counted
	}
	l.counted = now
	return now - l.idle
}

// wake prepares to send after all was acknowledged. When nothing was sent for
// longer than a timeout, the window falls back to the initial one (RFC 5681,
// section 4.1), or towards it (tcp_cwnd_restart in Linux 6.1).
func (e *Endpoint) wake(now time.Duration) {
	c := &e.stack.config
	e.limit.clock(now, false)
	idle := now - e.limit.sent
	initial := int64(c.InitCwnd) * e.win.mss
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

// validate is called when data was sent, or might have been. A window that was not the limit for a
// timeout was not tested: half of what was not used of it goes
// (tcp_cwnd_validate in Linux 6.1).
func (e *Endpoint) validate(now time.Duration) {
	c, l := &e.stack.config, &e.limit
	switch {
	case !c.Validation || !c.IdleRestart:
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

// share is so many parts of the window, in whole segments.
func (w *window) share(parts, of int64) int64 { return w.cwnd / w.mss * parts / of * w.mss }

// remember keeps the slow-start threshold from falling behind a window that is
// given up without a sign of congestion: three quarters of it are found again in
// slow start.
func (w *window) remember() {
	if w.ssthresh != math.MaxInt64 {
		w.ssthresh = max(w.ssthresh, w.share(1, 2)+w.share(1, 4))
	}
}
