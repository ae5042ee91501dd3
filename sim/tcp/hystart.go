package tcp

import "time"

// hystart ends slow start before the queue overflows (Ha and Rhee, Taming the Elephants:
// New TCP Slow Start, 2011), as Linux does in its CUBIC (hystart_update of 6.1). It goes by
// two signs within a round trip of data: that acknowledgements keep coming for longer than
// half of the shortest round trip, and that even the shortest of eight round trips is an
// eighth longer than the shortest of all. Linux's allowance for pacing is left out, since
// modelled CUBIC is not paced.
type hystart struct {
	shortest time.Duration // round trip of the connection; zero: none yet
	end      int64         // what was sent when the round began
	began    time.Duration
	last     time.Duration // acknowledgement of the train
	least    time.Duration // of the round's first round trips
	count    int
}

const (
	hystartWindow  = 16 // segments from which it looks (hystart_low_window)
	hystartSamples = 8
	hystartGap     = 2 * time.Millisecond // in a train of acknowledgements
	hystartLeast   = 4 * time.Millisecond // bounds of what a round trip is longer by
	hystartMost    = 16 * time.Millisecond
)

// ends takes an acknowledgement in slow start, and tells whether that is over.
func (h *hystart) ends(w *window, a ack) bool {
	if h.shortest == 0 || a.sample < h.shortest {
		h.shortest = a.sample
	}
	if a.una > h.end {
		*h = hystart{shortest: h.shortest, end: a.nxt, began: a.at, last: a.at}
	}
	if w.cwnd < hystartWindow*w.mss {
		return false
	}
	if a.at-h.last <= hystartGap {
		h.last = a.at
		if a.at-h.began > h.shortest/2 {
			return true
		}
	}
	if h.count == 0 || a.sample < h.least {
		h.least = a.sample
	}
	if h.count < hystartSamples {
		h.count++
		return false
	}
	return h.least > h.shortest+min(max(h.shortest/8, hystartLeast), hystartMost)
}
