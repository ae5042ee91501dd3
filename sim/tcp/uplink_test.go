package tcp

import (
	"testing"
	"time"
)

// TestSmallQueue: an endpoint gives its uplink no more than what leaves within
// the bound, goes on as that drains, and does not grow a window that it could
// not use.
func TestSmallQueue(t *testing.T) {
	const each = 10 * us // that a segment takes on the uplink
	c := config("reno")
	c.InitCwnd, c.SmallQueue = 20, 40*us
	var busy time.Duration
	c.Backlog = func(now time.Duration, host int) time.Duration {
		busy = max(busy, now) + each
		if host != 3 {
			t.Errorf("asked for the uplink of host %d", host)
		}
		return busy - now
	}
	r := newRig(t, c)
	r.segments(100)
	r.expect("up to the bound, and the segment that goes beyond", 0, 1, 2, 3, 4)
	r.at(10*us - 1)
	r.expect("as long as it is crowded")
	r.at(10 * us)
	r.expect("room for one", 5)
	r.ack(3 * mss)
	r.expect("an ACK makes no room on the uplink")
	r.at(40 * us)
	r.expect("one each time", 6, 7, 8)
	r.ack(9 * mss)
	if r.win.cwnd != 20*mss {
		t.Errorf("window %d, want 20000: it was not the limit", r.win.cwnd)
	}
}

// TestSmallQueueLetsRepairsPass: what is sent again does not wait.
func TestSmallQueueLetsRepairsPass(t *testing.T) {
	c := config("reno")
	c.SmallQueue = us
	c.Backlog = func(time.Duration, int) time.Duration { return time.Hour }
	r := newRig(t, c)
	r.segments(10)
	r.expect("one, which crowds the uplink", 0)
	r.at(10 * ms)
	r.expect("timeout", 0)
	r.Stop(r.loop.Now())
	r.ack(mss)
	r.Release()
	if _, pending := r.loop.Next(); pending {
		t.Error("a timer is left")
	}
}
