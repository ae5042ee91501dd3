package fabric

import (
	"time"

	"aqmlab/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// wire is one direction of a link: it serialises packets at its rate and
// delivers each after the delay, unless it loses it. Packets on it stand in a
// FIFO with a single timer for the first to arrive.
type wire struct {
	loop   *event.Loop
	rate   units.Rate
	delay  time.Duration
	clock  units.Clock
	busy   time.Duration // when the transmitter is free
	flight packet.Queue
	due    *event.Timer
	chance *chance // nil on a link without loss and jitter
	sink   func(now time.Duration, k *packet.Packet)
}

// newWire makes the direction of a link that leads away from one of its ends.
func (n *Network) newWire(e end, sink func(time.Duration, *packet.Packet)) *wire {
	delay := e.link.Delay
	if e.beyond {
		delay = sentDelay(e.link)
	}
	w := &wire{loop: n.loop, rate: e.link.Rate, delay: delay, chance: n.newChance(e), sink: sink}
	w.due = event.NewTimer(w.arrive)
	return w
}

// transmit starts sending k at start, which is not before the transmitter is
// free, and sets when it will arrive.
func (w *wire) transmit(start time.Duration, k *packet.Packet) {
	w.busy = w.clock.Transmit(start, int(k.Size)+port.FrameOverhead, w.rate, start == w.busy)
	k.Due = w.busy + w.delay
	if w.chance != nil {
		k.Due = w.chance.arrival(k.Due)
	}
	w.flight.Push(k)
	if !w.due.Pending() {
		w.loop.Schedule(w.due, k.Due)
	}
}

// arrive hands over the packet whose last bit reaches the far end, or would.
func (w *wire) arrive(now time.Duration) {
	k := w.flight.Pop()
	if next := w.flight.Head(); next != nil {
		w.loop.Schedule(w.due, next.Due)
	}
	if w.chance != nil && w.chance.loses(k) {
		return
	}
	w.sink(now, k)
}

// transmitter feeds a wire from a switch port: one packet after another, each
// when the port lets it go.
type transmitter struct {
	loop    *event.Loop
	port    *port.Port
	ingress *port.Ingress // of the same port; nil when it has none
	wire    *wire
	next    *event.Timer                              // end of a transmission, or of a wait for tokens
	busy    bool                                      // a transmission is under way; its end needs no event if nothing waits for it
	stopped bool                                      // by flow control
	left    func(now time.Duration, k *packet.Packet) // told what leaves the switch; nil without flow control
}

func newTransmitter(loop *event.Loop, p Port, w *wire) *transmitter {
	t := &transmitter{loop: loop, port: p.Port, ingress: p.Ingress, wire: w}
	t.next = event.NewTimer(t.ready)
	return t
}

// enqueue gives a packet to the port, and wakes an idle transmitter.
func (t *transmitter) enqueue(now time.Duration, k *packet.Packet) {
	if !t.port.Enqueue(now, k) {
		return
	}
	t.occupied(now)
	t.wake(now)
}

// offer gives a host's port a packet that left the host's stack at the lab time
// at, or, when that is over, when it is noticed.
func (t *transmitter) offer(at time.Duration, k *packet.Packet) { t.enqueue(max(at, t.loop.Now()), k) }

// wake sends, or sees to it that the end of the transmission under way does.
func (t *transmitter) wake(now time.Duration) {
	switch {
	case !t.busy || !t.next.Pending() && t.wire.busy <= now:
		t.ready(now)
	case !t.next.Pending():
		t.loop.Schedule(t.next, t.wire.busy)
	}
}

// ready sends the next packet, if the port has one and lets it go.
func (t *transmitter) ready(now time.Duration) {
	if t.stopped {
		t.busy = false
		return
	}
	k, wait := t.port.Dequeue(now)
	t.busy = k != nil
	switch {
	case k != nil:
		if t.left != nil {
			t.left(now, k)
		}
		t.wire.transmit(now, k)
		if t.port.Bytes() > 0 {
			t.loop.Schedule(t.next, t.wire.busy)
		}
	case wait > 0:
		t.loop.Schedule(t.next, wait)
	}
	t.occupied(now) // last: released ACKs may come back to this port
}

// stop takes a word of the switch at the far end: send nothing more, or go on.
func (t *transmitter) stop(now time.Duration, stop bool) {
	t.stopped = stop
	if !stop {
		t.wake(now)
	}
}

// occupied tells the ingress side of the port how long the queues are now.
func (t *transmitter) occupied(now time.Duration) {
	if t.ingress != nil {
		t.ingress.Occupied(now, t.port.Bytes())
	}
}
