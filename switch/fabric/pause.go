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
	lane    *event.Lane
	states  []LinkState // of the link's direction that words take, in the timeline
	course  course      // the same, as time goes on
	number  int32       // of the port, in n.ports
	lengths packet.Lengths
	bytes   int
	paused  bool // the far end has been told to stop
	since   time.Duration
	count   PauseCount

	sent   time.Duration // when the last frame arrives
	frames *frames
}

// frames are the pause frames on their way to the far end of a link. Those that stop it
// and those that let it go on arrive in turn, a stop first.
type frames struct {
	loop *event.Loop // of the far end
	way  event.Way   // of frames there
	box  *box        // to its part; nil when the near end is of the same

	arrivals []time.Duration // of those under way
	next     *event.Timer    // for the first of them
	last     bool            // the last frame that arrived was a stop
	stop     func(now time.Duration, stop bool)
}

// newFrames makes the way of the frames to a far end, which stop stops or lets go on.
func newFrames(far on, way int, b *box, stop func(now time.Duration, stop bool)) *frames {
	f := &frames{loop: far.lane.Loop(), way: far.lane.Way(way), box: b, stop: stop}
	f.next = event.NewTimer(f.fire)
	return f
}

// send has a frame arrive at that time.
func (f *frames) send(at time.Duration) {
	if f.box != nil {
		f.box.put(at, f, nil)
		return
	}
	f.arrive(at, nil)
}

// arrive is told of a frame that will arrive.
func (f *frames) arrive(at time.Duration, _ *packet.Packet) {
	f.arrivals = append(f.arrivals, at)
	if !f.next.Pending() {
		f.loop.ScheduleBy(f.way.At(f.arrivals[0]), f.next, f.arrivals[0])
	}
}

// fire is called when the first frame under way reaches the far end.
func (f *frames) fire(now time.Duration) {
	f.arrivals = slices.Delete(f.arrivals, 0, 1)
	if len(f.arrivals) > 0 {
		f.loop.ScheduleBy(f.way.At(f.arrivals[0]), f.next, f.arrivals[0])
	}
	f.last = !f.last
	f.stop(now, f.last)
}

// newIntake puts the port of that number, at one end of a link, under flow control.
func newIntake(lane *event.Lane, p Pause, number int, e end, f *frames) *intake {
	return &intake{Pause: p, lane: lane, states: e.states, course: course{LinkState: LinkState{Delay: e.link.Delay}}, number: int32(number), frames: f}
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
	in.sent = max(in.sent, now+in.course.Delay)
	in.frames.send(in.sent)
}

// gate is a host's uplink under flow control. Packets wait in it instead of
// being put on the wire ahead of time, so that all but the one that is being
// sent can be stopped.
type gate struct {
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
	g.serve(g.wire.lane.Now())
}

// serve sends what may be sent: one packet, and more when they were noticed so
// late that they have been sent already.
func (g *gate) serve(now time.Duration) {
	for !g.stopped && g.waiting.Head() != nil {
		if g.wire.busy > now {
			g.wire.lane.Schedule(g.free, g.wire.busy)
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
