package tcp

import (
	"math"
	"time"
)

// pacer spreads over time what an endpoint sends, as the rate of its window says. Data
// goes out in bursts, each as long as the window says, and the next one when the rate
// would have sent the one before (next_send_time of draft-ietf-ccwg-bbr). Only the
// times of the bursts are remembered, so that a change of the rate holds for data that
// waits already.
type pacer struct {
	began time.Duration // when the burst under way began
	sent  int64         // bytes of it
	ready alarm         // for when the next one may begin
}

// longestPause bounds how long a low rate keeps data back. It is only there so that
// times cannot overflow.
const longestPause = 1000 * time.Second

// due is when the next burst may begin at that rate, in bytes a second.
func (p *pacer) due(rate float64) time.Duration {
	return p.began + time.Duration(min(math.Ceil(float64(p.sent)/rate*1e9), float64(longestPause)))
}

// spend notes that n bytes are sent.
func (p *pacer) spend(now time.Duration, n int64, rate float64) {
	if now >= p.due(rate) {
		p.began, p.sent = now, 0
	}
	p.sent += n
}

// early tells whether it is too early to send n bytes, and schedules more for when it no
// longer is. Where the rate follows from the window, what the rate keeps back the window
// does, too.
func (e *Endpoint) early(now time.Duration, n int64) bool {
	w := &e.win
	if w.rate == 0 {
		return false
	}
	due := e.pace.due(w.rate)
	if now >= due || e.pace.sent+n <= w.burst {
		return false
	}
	e.limit.full = e.nxt
	e.pace.ready.start(due)
	return true
}
