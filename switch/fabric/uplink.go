package fabric

import (
	"fmt"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
)

// uplink is how a host's packets get into the network.
type uplink struct {
	line *delayLine   // before the wire; nil when the host holds nothing back
	gate *gate        // before the wire; nil without flow control or with a port
	port *transmitter // before the wire; nil without [Spec.HostPorts]
	wire *wire
}

// addHost makes the uplink of a host.
func (n *Network) addHost(spec Spec, nodes []node, at int) error {
	h, links := spec.Hosts[at], nodes[at].links
	if len(links) != 1 {
		return fmt.Errorf("host %s has %d links, want 1", h.Name, len(links))
	}
	for _, d := range h.Delays {
		if d < 0 {
			return fmt.Errorf("host %s: delay %v is below zero", h.Name, d)
		}
	}
	far := nodes[links[0].far].name
	if !spec.carries(far) {
		n.numbered++
		return nil
	}
	u := &n.hosts[at]
	if spec.HostPorts {
		if err := n.addHostPort(u, spec.Port, Port{Switch: h.Name, Far: far}, links[0]); err != nil {
			return err
		}
	} else {
		u.wire = new(wire)
		u.wire.init(n, links[0])
		if spec.Pause.on() {
			u.gate = newGate(n, u.wire)
		}
	}
	links[0].away = u.wire
	u.line = newDelayLine(n.loop, u.wire.rate, h.Delays, func(at time.Duration, k *packet.Packet) { n.offer(at, u, k) })
	return nil
}

// addHostPort makes the port that a host sends by.
func (n *Network) addHostPort(u *uplink, spec port.Spec, made Port, e end) (err error) {
	if made.Port, err = port.New(n.nextPort(spec, e.link.Rate), n.to.Kinds, n.to.Release); err != nil {
		return fmt.Errorf("port of host %s: %w", made.Switch, err)
	}
	u.port = n.newTransmitter(made, e)
	u.wire = &u.port.wire
	n.ports = append(n.ports, made)
	return nil
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
	h := &n.hosts[host]
	if h.line != nil && !k.PureACK {
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
// the shortest delay of a host's link. It is zero with flow control and with
// [Spec.HostPorts], where the host's end is part of the network.
func (n *Network) Lookahead() time.Duration {
	var least time.Duration
	for i, h := range n.hosts {
		if h.gate != nil || h.port != nil {
			return 0
		}
		if i == 0 || h.wire.delay < least {
			least = h.wire.delay
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
	w.transmit(max(at, w.busy), k)
	if k.Due < n.loop.Now() {
		k.Due = n.loop.Now()
		n.clamped++
	}
}

// gate is a host's uplink under flow control. Packets wait in it instead of
// being put on the wire ahead of time, so that all but the one that is being
// sent can be stopped.
type gate struct {
	network *Network
	wire    *wire
	waiting packet.Queue  // Due is when it came
	free    *event.Timer  // end of a transmission, when something waits for it
	open    time.Duration // when it was last told to go on
	stopped bool
}

func newGate(n *Network, w *wire) *gate {
	g := &gate{network: n, wire: w}
	g.free = event.NewTimer(g.serve)
	return g
}

// take takes a packet that left the host at the lab time at.
func (g *gate) take(at time.Duration, k *packet.Packet) {
	k.Due = at
	g.waiting.Push(k)
	g.serve(g.network.loop.Now())
}

// serve sends what may be sent: one packet, and more when they were noticed so
// late that they have been sent already.
func (g *gate) serve(now time.Duration) {
	for !g.stopped && g.waiting.Head() != nil {
		if g.wire.busy > now {
			g.network.loop.Schedule(g.free, g.wire.busy)
			return
		}
		k := g.waiting.Pop()
		g.network.transmit(max(k.Due, g.open), g.wire, k)
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
