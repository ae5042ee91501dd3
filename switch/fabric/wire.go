package fabric

import (
	"time"
	"unsafe"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// wire is one direction of a link: it serialises packets at its rate and
// delivers each after the delay, unless it loses it. Packets on it stand in a
// FIFO with a single timer for the first to arrive.
//
// What an arrival needs comes first, in one cache line, and the whole is two: a
// large network has more wires than near caches have room for.
type wire struct {
	due   event.Timer
	first *packet.Packet // to arrive; nil when the wire is empty
	sink  func(now time.Duration, k *packet.Packet)
	loop  *event.Loop // of the far end
	way   event.Way   // of arrivals there

	last   *packet.Packet // to arrive, unless the wire is empty
	busy   time.Duration  // when the transmitter is free
	rate   units.Rate
	clock  units.Clock
	delay  time.Duration
	impair *impairment // nil on a link without loss and jitter that never changes
	lane   *event.Lane // of the near end
	cut    *cut        // where the far end is of another part
}

// cut is the far end of a wire whose near end is of another part, and what is between
// them. Each end has cache lines of its own.
type cut struct {
	box *box
	far wire // of which the near end is not used
}

// init makes w the direction of a link that leads away from an end. It is complete when
// it is told where it leads.
func (w *wire) init(near, far on, e end, delay time.Duration, i *impairment) {
	w.lane, w.loop, w.way = near.lane, far.lane.Loop(), far.lane.Way(e.number)
	w.rate, w.delay, w.impair = e.link.Rate, delay, i
	w.due.Does(w)
}

// cross has the wire lead to another part by a box.
func (w *wire) cross(b *box) {
	w.cut = &cut{box: b}
	far := &w.cut.far
	far.loop, far.way = w.loop, w.way
	far.due.Does(far)
}

// shortest is the least delay that the wire ever has.
func (w *wire) shortest() time.Duration {
	least := w.delay
	if w.impair != nil {
		for _, s := range w.impair.states {
			least = min(least, s.Delay)
		}
	}
	return least
}

// lead says what takes the packets that reach the far end.
func (w *wire) lead(sink func(now time.Duration, k *packet.Packet)) {
	w.sink = sink
	if c := w.impair; c != nil {
		w.sink = func(now time.Duration, k *packet.Packet) {
			if !c.loses(now, k) {
				sink(now, k)
			}
		}
	}
	if w.cut != nil {
		w.cut.far.sink = w.sink
	}
}

// transmit starts sending k at start, which is not before the transmitter is
// free, and sets when it will arrive. It reports false when the packet will not, because
// the link goes down: the packet is released then.
func (w *wire) transmit(start time.Duration, k *packet.Packet) bool {
	c := w.impair
	if c != nil {
		c.follow(w, start)
	}
	w.busy = w.clock.Transmit(start, packet.OnWire(int(k.Size)), w.rate, start == w.busy)
	k.Due = w.busy + w.delay
	if c != nil {
		if k.Due = c.arrival(k.Due); c.cuts(k) {
			return false
		}
	}
	if c := w.cut; c != nil {
		c.box.put(k.Due, &c.far, k)
		return true
	}
	w.arrive(k.Due, k)
	return true
}

// arrive has a packet arrive at that time, behind those that are on the wire.
func (w *wire) arrive(at time.Duration, k *packet.Packet) {
	k.Next = nil
	switch {
	case w.first == nil:
		w.first = k
		w.loop.ScheduleBy(w.way.At(at), &w.due, at)
	default:
		w.last.Next, w.last.Behind = k, at
	}
	w.last = k
}

// Fire hands over the packet whose last bit reaches the far end, or would. The
// one behind it has left the near caches since it was sent, and is not touched.
func (w *wire) Fire(now time.Duration) {
	k := w.first
	if w.first = k.Next; w.first != nil {
		w.loop.ScheduleBy(w.way.At(k.Behind), &w.due, k.Behind)
		event.Prefetch(w.first)
		k.Next = nil
	}
	w.sink(now, k)
}

// Near fetches the packet that arrives next.
func (w *wire) Near() { event.Prefetch(w.first) }

// transmitter feeds a wire from a switch port: one packet after another, each
// when the port lets it go. It is one cache line, the wire, and two that a hop reads in
// place of the first one and of the port's, where that is possible.
type transmitter struct {
	next    event.Timer // end of a transmission, or of a wait for tokens
	port    *port.Port
	ingress *port.Ingress                             // of the same port; nil when it has none
	left    func(now time.Duration, k *packet.Packet) // told what leaves the switch; nil without flow control
	busy    bool                                      // a transmission is under way; its end needs no event if nothing waits for it
	stopped bool                                      // by flow control
	wire    wire
	plans   port.Foresight // runs the port, if it is on; see [Network.Foresee]
	_       [16]byte
}

// aligned is how many transmitters Go allocates so that they begin with a cache line: more
// than 32 KB. A word of its own is before what is smaller.
const aligned = 32<<10/int(unsafe.Sizeof(transmitter{})) + 1

// place gives the switches that the network carries their ports, all in one piece.
func (s Spec) place(nodes []node) {
	count := 0
	for _, n := range nodes[len(s.Hosts):] {
		count += len(n.links)
	}
	all := make([]transmitter, max(count, aligned))
	for at := len(s.Hosts); at < len(nodes); at++ {
		if n := len(nodes[at].links); s.carries(nodes[at].name) {
			nodes[at].ports, all = all[:n:n], all[n:]
		}
	}
}

// init makes t the transmitter of a port. Its wire is made apart.
func (t *transmitter) init(p *port.Port, ingress *port.Ingress) {
	t.port, t.ingress = p, ingress
	t.next.Does(t)
}

// enqueue gives a packet to the port, and wakes an idle transmitter. Where the port knows
// when the packet will leave, it is on the wire from now on.
func (t *transmitter) enqueue(now time.Duration, k *packet.Packet) {
	if t.plans.On() {
		if start, ok := t.plans.Plan(now, t.wire.busy, k); ok {
			t.wire.transmit(start, k)
		}
		return
	}
	if !t.port.Enqueue(now, k) {
		return
	}
	t.occupied(now)
	t.wake(now)
}

// offer gives a host's port a packet that left the host's stack at the lab time
// at, or, when that is over, when it is noticed.
func (t *transmitter) offer(at time.Duration, k *packet.Packet) {
	t.enqueue(max(at, t.wire.lane.Now()), k)
}

// wake sends, or sees to it that the end of the transmission under way does.
func (t *transmitter) wake(now time.Duration) {
	switch {
	case !t.busy || !t.next.Pending() && t.wire.busy <= now:
		t.Fire(now)
	case !t.next.Pending():
		t.wire.lane.Schedule(&t.next, t.wire.busy)
	}
}

// Fire sends the next packet, if the port has one and lets it go.
func (t *transmitter) Fire(now time.Duration) {
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
			t.wire.lane.Schedule(&t.next, t.wire.busy)
		}
	case wait > 0:
		t.wire.lane.Schedule(&t.next, wait)
	}
	t.occupied(now) // last: released ACKs may come back to this port
}

// Near fetches the port.
func (t *transmitter) Near() { event.Prefetch(t.port) }

// stop takes a pause frame of the far end: send nothing more, or go on.
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
