package fabric

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// Edge is where the fabric ends: it takes the packets that reach a host, in
// the instant in which their last bit does, and owns them from then on.
type Edge interface {
	Deliver(now time.Duration, host int, k *packet.Packet)
}

// Attachment is what a network is built into: where it ends, and what its ports
// can be built of.
type Attachment struct {
	Edge    Edge
	Parts   Parts                // none: all runs on the loop of the network
	Release func(*packet.Packet) // takes the packets that switches drop
	Kinds   port.Kinds           // that the spec names rows of
	// Beyond takes the packets that leave by a trunk, a link to a switch that the
	// network does not carry, and owns them from then on. Trunks have the index of
	// their link in the spec. A network that carries all switches needs none.
	Beyond func(now time.Duration, trunk int, k *packet.Packet)
	// Rated is called when the timeline changes the rate at which a host's uplink sends.
	// It may be nil.
	Rated func(now time.Duration, host int, rate units.Rate)
	// Stopped is called when flow control stops a host's uplink, and when it lets
	// it go on. The uplink keeps what is sent meanwhile. It may be nil.
	Stopped func(now time.Duration, host int, stopped bool)
}

// Collector looks at a network as it runs. It is attached before, and may arm timers
// of its own on the loop.
type Collector interface {
	Attach(loop *event.Loop, network *Network)
}

// Network is a running fabric. Everything in it happens on the event loop that
// it was built on, or on those of its [Parts]; what concerns all of these, still on the
// former, while none of them runs.
type Network struct {
	loop       *event.Loop
	ground     []on // of all nodes
	borders    borders
	to         Attachment
	hosts      []uplink
	index      map[netip.Addr]int
	codepoints map[netip.Addr]packet.Codepoint // of addresses whose packets get another one
	ports      []Port
	makings    []making // of the ports
	nodes      []node
	routes     []table        // of all nodes, as they are now
	whole      []table        // the same while no link is down
	detours    []detour       // of the timeline
	detoured   []*event.Timer // the detours that are to come
	impaired   []*impairment  // those of the wires that have one
	inlets     map[int]*inlet // by trunk
	foreseen   []*port.Foresight
	numbered   int // ports of the whole fabric so far, those that this network does not carry included
	seed       uint64
	clamped    int64
}

// Port is one port of a network, and what stands at its far end.
type Port struct {
	Switch, Far string // Switch is a host for [Spec.HostPorts]
	*port.Port
	Ingress *port.Ingress // holds what enters the switch from Far; nil when the port has none
	in      *entrance     // nil for a host's port
}

// Pauses is what flow control did to Far.
func (p Port) Pauses() PauseCount {
	if p.in == nil || p.in.intake == nil {
		return PauseCount{}
	}
	return p.in.intake.count
}

// WatchEntries calls watch for every packet that enters the switch from Far from
// now on, before anything else is done with it. A host's port has none.
func (p Port) WatchEntries(watch func(now time.Duration, k *packet.Packet)) {
	if p.in != nil {
		p.in.watch = append(p.in.watch, watch)
		p.in.build()
	}
}

// uplink is how a host's packets get into the network.
type uplink struct {
	line *delayLine   // before the wire; nil when the host holds nothing back
	gate *gate        // before the wire; nil without flow control or with a port
	port *transmitter // before the wire; nil without [Spec.HostPorts]
	wire *wire

	delays []time.Duration                          // of the spec
	send   func(at time.Duration, k *packet.Packet) // by the port, the gate or the wire
}

// stop takes a pause frame of the switch.
func (u *uplink) stop(now time.Duration, stop bool) {
	if u.port != nil {
		u.port.stop(now, stop)
		return
	}
	u.gate.stop(now, stop)
}

// Send hands the network a packet that left the host's stack at the lab time
// at. The host's [Host.Delays] hold it back first. The uplink then sends its
// packets one after another at the link's rate, from an unbounded queue, as a
// network card with a long ring does, or from its port.
//
// at may lie before the loop's time, because a real host's frame is noticed after
// it was sent. The packet still reaches the switch in time, unless later events of
// the switch have run already. [Network.Clamped] counts those.
func (n *Network) Send(at time.Duration, host int, k *packet.Packet) {
	k.Spent = 0
	h := &n.hosts[host]
	if h.line != nil && !k.PureACK && !k.Answer {
		h.line.hold(at, k)
		return
	}
	n.offer(at, h, k)
}

// offer gives a packet to what the host sends by.
func (n *Network) offer(at time.Duration, h *uplink, k *packet.Packet) {
	switch {
	case h.gate != nil:
		h.gate.take(at, k)
	case h.port != nil:
		h.port.offer(at, k)
	default:
		n.transmit(at, h.wire, k)
	}
}

// Lookahead is how far ahead of the hosts the network may run: what a host sends
// changes nothing in the network, and reaches no host, until so much later. It is
// the shortest delay that a host's link ever has. It is zero with flow control and with
// [Spec.HostPorts], where the host's end is part of the network.
func (n *Network) Lookahead() time.Duration {
	var least time.Duration
	for i, h := range n.hosts {
		if h.gate != nil || h.port != nil {
			return 0
		}
		if d := h.wire.shortest(); i == 0 || d < least {
			least = d
		}
	}
	return least
}

// Backlog is how long the uplink of a host needs, at now, to send what it was
// given. Of the packets that the host's delays hold back, it counts those that the
// uplink cannot send meanwhile. Of packets in a host's port it counts the
// network-layer bytes.
func (n *Network) Backlog(now time.Duration, host int) time.Duration {
	h := &n.hosts[host]
	backlog := max(0, h.wire.busy-now)
	if h.port != nil {
		backlog += h.wire.rate.Time(h.port.port.Bytes())
	}
	if h.line != nil {
		backlog = max(0, backlog+h.line.excess())
	}
	return backlog
}

// transmit puts a packet on its host's uplink.
func (n *Network) transmit(at time.Duration, w *wire, k *packet.Packet) {
	if w.transmit(max(at, w.busy), k) && k.Due < w.lane.Now() {
		k.Due = w.lane.Now()
		n.clamped++
	}
}

// Arrive hands the network a packet that came by a trunk at the lab time at,
// which may lie before the loop's time as with [Network.Send].
func (n *Network) Arrive(at time.Duration, trunk int, k *packet.Packet) {
	in := n.inlets[trunk]
	in.course.at(at)
	k.Due = max(at+in.course.Delay, in.last)
	if in.course.cuts(k.Due) {
		in.Cut++
		n.to.Release(k)
		return
	}
	if k.Due < in.lane.Now() {
		k.Due = in.lane.Now()
		n.clamped++
	}
	in.last = k.Due
	in.waiting.Push(k)
	if !in.next.Pending() {
		in.lane.Schedule(in.next, k.Due)
	}
}

// Host is the index of the host with that address.
func (n *Network) Host(addr netip.Addr) (int, bool) {
	i, ok := n.index[addr]
	return i, ok
}

// Recode gives a packet from that address the codepoint that the spec says.
func (n *Network) Recode(k *packet.Packet, from netip.Addr) {
	if len(n.codepoints) == 0 {
		return
	}
	if c := n.codepoints[from]; c.Set {
		k.SetECN(c.Of(k.ECN, k.HasPayload()))
	}
}

// Ports are the ports, in the order of switches and links in the spec, those of
// hosts behind them.
func (n *Network) Ports() []Port { return n.ports }

// Empty releases the packets that wait on the ingress sides of ports. The network
// must not be used after it.
func (n *Network) Empty() {
	for _, p := range n.ports {
		p.Ingress.Empty(n.to.Release)
	}
}

// Clamped counts the packets that reached their first switch later than they
// should have, because they were noticed too late.
func (n *Network) Clamped() int64 { return n.clamped }

// PortCount is what one port has counted. It is plain data.
type PortCount struct {
	Switch, Far string
	Queues      []port.Count
	Ingress     port.IngressCount
	Pauses      PauseCount
}

// Counts are what the ports have counted so far, in their order.
func (n *Network) Counts() []PortCount {
	counts := make([]PortCount, len(n.ports))
	for i, p := range n.ports {
		counts[i] = PortCount{Switch: p.Switch, Far: p.Far, Ingress: p.Ingress.Count(), Pauses: p.Pauses()}
		for q := range p.Queues() {
			counts[i].Queues = append(counts[i].Queues, p.Count(q))
		}
	}
	return counts
}

// left counts a packet out that leaves the switch it is in.
func (n *Network) left(now time.Duration, k *packet.Packet) {
	in := n.ports[k.Entry].in.intake
	in.add(now, -in.lengths.Of(int(k.Size)))
}

// drops takes what ports of a switch drop. Under flow control it counts them out.
func (n *Network) drops(at on, p Pause) func(*packet.Packet) {
	if !p.on() {
		return at.release
	}
	return func(k *packet.Packet) {
		n.left(at.lane.Now(), k)
		at.release(k)
	}
}

// Lost counts the packets that links have lost so far, of each direction of the
// links that may lose any: in the order of the spec, from A to B first. Of a trunk it
// counts those that are lost on the network's side.
func (n *Network) Lost() []LossCount {
	var counts []LossCount
	inOrder := func(a, b *impairment) int { return cmp.Compare(a.Number, b.Number) }
	for _, c := range slices.SortedFunc(slices.Values(n.impaired), inOrder) {
		if c.mayLose {
			counts = append(counts, c.LossCount)
		}
	}
	for _, trunk := range slices.Sorted(maps.Keys(n.inlets)) {
		if in := n.inlets[trunk]; in.Cut > 0 {
			counts = append(counts, in.LossCount)
		}
	}
	return counts
}
