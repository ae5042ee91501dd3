package tcp

import (
	"math"
	"time"
)

// window is the congestion window of a sender, in bytes.
type window struct {
	mss      int64
	cwnd     int64
	ssthresh int64
	whole    bool  // marks take whole segments of it, as in Linux, which counts it in segments
	leap     int64 // largest growth by one ACK in slow start (L of RFC 3465)
	credit   int64 // acknowledged in congestion avoidance since the window last grew

	rate  float64 // at which data is paced, in bytes a second; zero: it is not
	burst int64   // bytes that go out together: of paced data, and of a super-packet at most; zero: no bound
}

func newWindow(mss, segments int64) window {
	return window{mss: mss, cwnd: segments * mss, ssthresh: math.MaxInt64, leap: 2 * mss}
}

// slow tells whether the window is in slow start.
func (w *window) slow() bool { return w.cwnd < w.ssthresh }

// grow is slow start, which doubles the window in a round trip, or congestion
// avoidance, which adds a segment (RFC 5681, section 3.1, with the byte counting
// of RFC 3465, section 2).
func (w *window) grow(acked int64) {
	if w.slow() {
		w.cwnd += min(acked, w.leap)
		return
	}
	w.credit += acked
	if w.credit >= w.cwnd {
		w.credit -= w.cwnd
		w.cwnd += w.mss
	}
}

// cut is what a mark takes of the window that should take so many bytes.
func (w *window) cut(bytes float64) int64 {
	if n := int64(bytes); w.whole {
		return n - n%w.mss
	}
	return int64(math.Ceil(bytes))
}

// shrink leaves slow start with a window of that many bytes, but at least some
// segments. It never widens the window. After a timeout it sets the threshold
// alone.
func (w *window) shrink(to, segments int64, c cause) {
	w.ssthresh = max(to, segments*w.mss)
	if c != timedOut {
		w.cwnd = min(w.cwnd, w.ssthresh)
	}
	w.credit = 0
}

// halve is the answer to a loss (RFC 5681, equation 4).
func (w *window) halve(e congestion) { w.shrink(e.flight/2, 2, e.cause) }

// collapse is what a timeout leaves: one segment (RFC 5681, section 3.1), and
// slow start by at most one segment an ACK until what was lost is repaired
// (RFC 3465, section 2.3).
func (w *window) collapse() { w.cwnd, w.leap, w.credit = w.mss, w.mss, 0 }

// repaired ends what collapse began.
func (w *window) repaired() { w.leap = 2 * w.mss }

// reaction makes sure that the window is cut at most once for a window of data.
type reaction struct {
	cut    int64 // what was sent when the window was last cut; -1: never cut
	marked bool  // it was for a mark
	cwr    bool  // the receiver has yet to be told (RFC 3168, section 6.1.2)
}

// limiter knows whether the window is what limits the sender. Only then it
// grows, so that a sender with little to say does not gather a window that it
// never tested (RFC 7661).
type limiter struct {
	full    int64         // bytes below it were sent while the window was the limit
	sent    time.Duration // when data was last sent
	counted time.Duration // up to when idle is known
	idle    time.Duration // how long the window was not the limit

	tested time.Duration // when the window last was the limit, or was taken for untested
	used   int64         // the most that was under way since then
}

// clock is the lab time less the idle time. limited says that the window was the
// limit when the bytes that are acknowledged now were sent.
func (l *limiter) clock(now time.Duration, limited bool) time.Duration {
	if !limited {
		l.idle += now - l.counted
	}
	l.counted = now
	return now - l.idle
}

// share is so many parts of the window, in whole segments.
func (w *window) share(parts, of int64) int64 { return w.cwnd / w.mss * parts / of * w.mss }

// remember raises the slow-start threshold to three quarters of a window that is
// given up without a sign of congestion, so that slow start finds these again.
func (w *window) remember() {
	if w.ssthresh != math.MaxInt64 {
		w.ssthresh = max(w.ssthresh, w.share(1, 2)+w.share(1, 4))
	}
}
