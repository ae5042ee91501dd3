package fabric

import (
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// entrance is the ingress side of one switch port: a chain of what each packet
// passes that the port's link brings, in the order of the fields.
type entrance struct {
	watch   []func(now time.Duration, k *packet.Packet)
	intake  *intake                                   // counts the packets of the link; nil without flow control
	gate    *port.Ingress                             // holds pure ACKs back; nil without one
	forward func(now time.Duration, k *packet.Packet) // to the port that leads on

	take func(now time.Duration, k *packet.Packet) // the whole chain
	from *wire                                     // of the link; nil when it comes from a switch that is not carried
}

// build puts the chain together. A switch whose chains consist of its forwarder
// alone has the same function at all its links.
func (in *entrance) build() {
	in.take = in.forward
	if in.gate != nil {
		in.take = in.gate.Enter
	}
	if in.intake != nil {
		in.take = in.intake.before(in.take)
	}
	for _, watch := range in.watch {
		next := in.take
		in.take = func(now time.Duration, k *packet.Packet) {
			watch(now, k)
			next(now, k)
		}
	}
	if in.from != nil {
		in.from.lead(in.take)
	}
}

// inlet is the receiving end of a link from a switch that the network does not
// carry. The two ends share the link's delay: each has time for packets that
// are noticed late.
type inlet struct {
	LossCount
	states  []LinkState   // of the timeline
	course  course        // by the time at which a packet comes
	last    time.Duration // when the newest packet enters
	waiting packet.Queue
	lane    *event.Lane
	next    *event.Timer
}

// newInlet makes the receiving end of a link, at one end of it, whose other direction
// has these states; in takes what comes out of it.
func newInlet(lane *event.Lane, e end, states []LinkState, in *entrance) *inlet {
	t := &inlet{
		lane:      lane,
		LossCount: LossCount{Number: e.number ^ 1, From: e.link.B, To: e.link.A},
		states:    shared(states, receivedDelay),
		course:    course{LinkState: LinkState{Delay: receivedDelay(e.link.Delay)}},
	}
	if e.number%2 == 1 {
		t.From, t.To = e.link.A, e.link.B
	}
	t.next = event.NewTimer(func(now time.Duration) {
		k := t.waiting.Pop()
		if next := t.waiting.Head(); next != nil {
			lane.Schedule(t.next, next.Due)
		}
		in.take(now, k)
	})
	return t
}

// sentDelay is the sending end's share of a trunk's delay.
func sentDelay(whole time.Duration) time.Duration { return whole / 2 }

// receivedDelay is the receiving end's.
func receivedDelay(whole time.Duration) time.Duration { return whole - sentDelay(whole) }

// shared are the states of a trunk's link as one of its ends has them.
func shared(states []LinkState, share func(time.Duration) time.Duration) []LinkState {
	all := slices.Clone(states)
	for i := range all {
		all[i].Delay = share(all[i].Delay)
	}
	return all
}
