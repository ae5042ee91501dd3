package fabric

import (
	"fmt"
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// Pause is priority flow control (IEEE 802.1Qbb) on every link of a fabric, in
// one lossless class that all traffic is of. A switch counts what entered by
// each of its ports and has not left it, in network-layer bytes. Above XOff it
// tells the far end of that port's link to stop, and at XOn or below to go on;
// both take the link's delay. Who is told to stop finishes the packet that is on
// the wire. The zero Pause is off.
//
// Nothing is dropped for want of room if a port's buffer, or the pool that all
// ports share, holds [Pause.Peak] of every link of the switch together, and the
// buffer's sharing gives a queue all of it.
type Pause struct {
	XOff, XOn units.Size
}

func (p Pause) on() bool { return p != Pause{} }

func (p Pause) check() error {
	if p.on() && (p.XOff <= 0 || p.XOn < 0 || p.XOn > p.XOff) {
		return fmt.Errorf("pause: XOff %v must be above zero, and XOn %v in 0B to XOff", p.XOff, p.XOn)
	}
	return nil
}

// Peak is the most that can come to stand in a switch of what entered by one
// link: XOff, the packet that exceeds it, what is under way while the word
// travels up the link and the last bits down it, as late as the jitter makes them,
// and the packet that the far end finishes. packet is the network-layer size of the largest packet.
func (p Pause) Peak(l Link, packet units.Size) units.Size {
	return p.XOff + 2*packet + units.Size(l.Rate.Bytes(2*l.Delay+l.Jitter))
}

// PauseCount adds up what flow control did at the ingress side of one port. It
// is all zero without flow control.
type PauseCount struct {
	Stops     int64         // times that the far end was told to stop
	Stopped   time.Duration // lab time between those and the words to go on
	PeakBytes int           // most of what entered by the port that the switch held
}

// intake is the ingress side of one port under flow control.
type intake struct {
	Pause
	loop    *event.Loop
	delay   time.Duration
	bytes   int
	stopped bool // the far end has been told to stop
	since   time.Duration
	count   PauseCount

	// Words to stop and to go on reach the far end in turn, a stop first.
	words  []time.Duration // when those under way do
	next   *event.Timer    // for the first of them
	halted bool            // by the last that did
	halt   func(now time.Duration, stop bool)
}

// watch puts the ingress side of a port under flow control. Its number is that
// of the port in n.ports, as watch is called in their order.
func (n *Network) watch(p Pause, nodes []node, e *end) {
	number := len(n.intakes)
	in := &intake{Pause: p, loop: n.loop, delay: e.link.Delay, halt: n.halter(nodes, *e)}
	in.next = event.NewTimer(in.arrive)
	n.intakes = append(n.intakes, in)
	n.ports[number].intake = in
	enter := e.enter
	e.enter = func(now time.Duration, k *packet.Packet) {
		k.Entry = int32(number)
		in.add(now, int(k.Size))
		enter(now, k)
	}
	e.tx.left = n.left
}

// halter is what stops the far end of a link: a host or another switch's port.
func (n *Network) halter(nodes []node, e end) func(now time.Duration, stop bool) {
	far, host := &nodes[e.far].links[e.peer], e.far
	if host >= len(n.hosts) {
		return func(now time.Duration, stop bool) { far.tx.stop(now, stop) }
	}
	return func(now time.Duration, stop bool) {
		n.hosts[host].stop(now, stop)
		if n.to.Stopped != nil {
			n.to.Stopped(now, host, stop)
		}
	}
}

// left takes a packet that leaves the switch it is in.
func (n *Network) left(now time.Duration, k *packet.Packet) {
	n.intakes[k.Entry].add(now, -int(k.Size))
}

// dropped takes a packet that a switch under flow control drops.
func (n *Network) dropped(k *packet.Packet) {
	n.left(n.loop.Now(), k)
	n.to.Release(k)
}

// add counts bytes that entered or, below zero, left.
func (in *intake) add(now time.Duration, bytes int) {
	in.bytes += bytes
	in.count.PeakBytes = max(in.count.PeakBytes, in.bytes)
	switch {
	case !in.stopped && in.bytes > int(in.XOff):
		in.count.Stops++
		in.since = now
	case in.stopped && in.bytes <= int(in.XOn):
		in.count.Stopped += now - in.since
	default:
		return
	}
	in.stopped = !in.stopped
	in.words = append(in.words, now+in.delay)
	if !in.next.Pending() {
		in.loop.Schedule(in.next, in.words[0])
	}
}

// arrive is when the first word under way reaches the far end.
func (in *intake) arrive(now time.Duration) {
	in.words = slices.Delete(in.words, 0, 1)
	if len(in.words) > 0 {
		in.loop.Schedule(in.next, in.words[0])
	}
	in.halted = !in.halted
	in.halt(now, in.halted)
}

// gate is a host's uplink under flow control. Packets wait in it instead of
// being put on the wire ahead of time, so that all but the one that is being
// sent can be stopped.
type gate struct {
	loop    *event.Loop
	wire    *wire
	send    func(at time.Duration, k *packet.Packet) // puts a packet on the wire
	waiting packet.Queue                             // Due is when it came
	free    *event.Timer                             // end of a transmission, when something waits for it
	open    time.Duration                            // when it was last told to go on
	stopped bool
}

func newGate(loop *event.Loop, w *wire, send func(time.Duration, *packet.Packet)) *gate {
	g := &gate{loop: loop, wire: w, send: send}
	g.free = event.NewTimer(g.serve)
	return g
}

// take takes a packet that left the host at the lab time at.
func (g *gate) take(at time.Duration, k *packet.Packet) {
	k.Due = at
	g.waiting.Push(k)
	g.serve(g.loop.Now())
}

// serve sends what may be sent: one packet, and more when they were noticed so
// late that they have been sent already.
func (g *gate) serve(now time.Duration) {
	for !g.stopped && g.waiting.Head() != nil {
		if g.wire.busy > now {
			g.loop.Schedule(g.free, g.wire.busy)
			return
		}
		k := g.waiting.Pop()
		g.send(max(k.Due, g.open), k)
	}
}

// stop takes a word of the switch.
func (g *gate) stop(now time.Duration, stop bool) {
	g.stopped = stop
	if !stop {
		g.open = now
		g.serve(now)
	}
}
