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
// tells the far end of that port's link to stop, and at XOn or below to go on. The
// pause frames take the link's delay. An end that is stopped finishes the packet
// that is on the wire. The zero Pause is off.
//
// Nothing is dropped for want of room if a port's buffer, or the pool that all
// ports share, holds [Pause.Peak] of every link of the switch together, and the
// buffer's sharing gives a queue all of it.
type Pause struct {
	XOff units.Size `lab:"xoff" write:"set" range:"1B..1GB" doc:"flow control (PFC): bytes by one link in a switch above which that link stops, see [below](#sharing-the-buffer); without, off"`
	XOn  units.Size `lab:"xon" write:"set" range:"1B..1GB" doc:"bytes at which it goes on; two packets below xoff when absent"`
}

func (p Pause) on() bool { return p != Pause{} }

func (p Pause) check() error {
	if p.on() && (p.XOff <= 0 || p.XOn < 0 || p.XOn > p.XOff) {
		return fmt.Errorf("pause: XOff %v must be above zero, and XOn %v in 0B to XOff", p.XOff, p.XOn)
	}
	return nil
}

// Peak is the most that can come to stand in a switch of what entered by one
// link: XOff, the packet that exceeds it, what is under way while the pause frame
// travels up the link and the last bits down it, jitter included, and the packet
// that the far end finishes. packet is the network-layer size of the largest
// packet.
func (p Pause) Peak(l Link, packet units.Size) units.Size {
	return p.XOff + 2*packet + units.Size(l.Rate.Bytes(2*l.Delay+l.Jitter))
}

// PauseCount adds up what flow control did at the ingress side of one port. It
// is all zero without flow control.
type PauseCount struct {
	Stops     int64         // pause frames that stopped the far end
	Stopped   time.Duration // lab time between those and the frames that let it go on
	PeakBytes int           // most of what entered by the port that the switch held
}

// intake counts the packets of one ingress port under flow control, and sends the
// far end of its link pause frames.
type intake struct {
	Pause
	loop   *event.Loop
	delay  time.Duration
	number int32 // of the port, in n.ports
	bytes  int
	paused bool // the far end has been told to stop
	since  time.Duration
	count  PauseCount

	// Frames that stop the far end and frames that let it go on arrive in turn, a
	// stop first.
	frames []time.Duration // when those under way arrive
	next   *event.Timer    // for the first of them
	last   bool            // the last frame that arrived was a stop
	stop   func(now time.Duration, stop bool)
}

// newIntake puts the port that is added next, at that end of a link, under flow
// control.
func (n *Network) newIntake(p Pause, nodes []node, e end) *intake {
	in := &intake{Pause: p, loop: n.loop, delay: e.link.Delay, number: int32(len(n.ports)), stop: n.stopper(nodes, e)}
	in.next = event.NewTimer(in.arrive)
	return in
}

// before is the link of an ingress chain that counts packets.
func (in *intake) before(next func(time.Duration, *packet.Packet)) func(time.Duration, *packet.Packet) {
	return func(now time.Duration, k *packet.Packet) {
		k.Entry = in.number
		in.add(now, int(k.Size))
		next(now, k)
	}
}

// stopper stops the far end of a link: a host or another switch's port.
func (n *Network) stopper(nodes []node, e end) func(now time.Duration, stop bool) {
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

// left counts a packet out that leaves the switch it is in.
func (n *Network) left(now time.Duration, k *packet.Packet) {
	n.ports[k.Entry].in.intake.add(now, -int(k.Size))
}

// dropped counts a packet out that a switch under flow control drops.
func (n *Network) dropped(k *packet.Packet) {
	n.left(n.loop.Now(), k)
	n.to.Release(k)
}

// add counts bytes that entered or, below zero, left.
func (in *intake) add(now time.Duration, bytes int) {
	in.bytes += bytes
	in.count.PeakBytes = max(in.count.PeakBytes, in.bytes)
	switch {
	case !in.paused && in.bytes > int(in.XOff):
		in.count.Stops++
		in.since = now
	case in.paused && in.bytes <= int(in.XOn):
		in.count.Stopped += now - in.since
	default:
		return
	}
	in.paused = !in.paused
	in.frames = append(in.frames, now+in.delay)
	if !in.next.Pending() {
		in.loop.Schedule(in.next, in.frames[0])
	}
}

// arrive is called when the first frame under way reaches the far end.
func (in *intake) arrive(now time.Duration) {
	in.frames = slices.Delete(in.frames, 0, 1)
	if len(in.frames) > 0 {
		in.loop.Schedule(in.next, in.frames[0])
	}
	in.last = !in.last
	in.stop(now, in.last)
}
