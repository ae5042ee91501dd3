package fabric

import (
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

// inlet is the receiving end of a link from a switch that the network does not
// carry. The two ends share the link's delay: each has time for packets that
// are noticed late.
type inlet struct {
	delay   time.Duration
	last    time.Duration // when the newest packet enters
	waiting packet.Queue
	next    *event.Timer
}

// newInlet makes the receiving end of a link; in takes what comes out of it.
func newInlet(loop *event.Loop, l Link, in *entrance) *inlet {
	t := &inlet{delay: l.Delay - sentDelay(l)}
	t.next = event.NewTimer(func(now time.Duration) {
		k := t.waiting.Pop()
		if next := t.waiting.Head(); next != nil {
			loop.Schedule(t.next, next.Due)
		}
		in.take(now, k)
	})
	return t
}

// sentDelay is the sending end's share of a trunk's delay.
func sentDelay(l Link) time.Duration { return l.Delay / 2 }
