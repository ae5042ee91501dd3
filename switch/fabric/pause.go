package fabric

import (
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
)

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
	loop    *event.Loop
	states  []LinkState // of the link's direction that words take, in the timeline
	course  course      // the same, as time goes on
	number  int32       // of the port, in n.ports
	lengths packet.Lengths
	bytes   int
	paused  bool // the far end has been told to stop
	since   time.Duration
	count   PauseCount

	// Frames that stop the far end and frames that let it go on arrive in turn, a
	// stop first.
	frames []time.Duration // when those under way arrive
	next   *event.Timer    // for the first of them
	last   bool            // the last frame that arrived was a stop
	stop   func(now time.Duration, stop bool)
}

// newIntake puts the port of that number, at one end of a link, under flow control. stop
// stops the far end or lets it go on.
func newIntake(loop *event.Loop, p Pause, number int, e end, stop func(now time.Duration, stop bool)) *intake {
	in := &intake{Pause: p, loop: loop, states: e.states, course: course{LinkState: LinkState{Delay: e.link.Delay}}, number: int32(number), stop: stop}
	in.next = event.NewTimer(in.arrive)
	return in
}

// before is the link of an ingress chain that counts packets.
func (in *intake) before(next func(time.Duration, *packet.Packet)) func(time.Duration, *packet.Packet) {
	return func(now time.Duration, k *packet.Packet) {
		k.Entry = in.number
		in.add(now, in.lengths.Of(int(k.Size)))
		next(now, k)
	}
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
	in.course.at(now)
	arrives := now + in.course.Delay
	if n := len(in.frames); n > 0 {
		arrives = max(arrives, in.frames[n-1])
	}
	in.frames = append(in.frames, arrives)
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

// stop takes a pause frame of the switch.
func (g *gate) stop(now time.Duration, stop bool) {
	g.stopped = stop
	if !stop {
		g.open = now
		g.serve(now)
	}
}
