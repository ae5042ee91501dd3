package fabric

import (
	"fmt"
	"net/netip"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
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
	Release func(*packet.Packet) // takes the packets that switches drop
	Kinds   port.Kinds           // that the spec names rows of
	// Beyond takes the packets that leave by a trunk, a link to a switch that the
	// network does not carry, and owns them from then on. Trunks have the index of
	// their link in the spec. A network that carries all switches needs none.
	Beyond func(now time.Duration, trunk int, k *packet.Packet)
	// Stopped is called when flow control stops a host's uplink, and when it lets
	// it go on. The uplink keeps what is sent meanwhile. It may be nil.
	Stopped func(now time.Duration, host int, stopped bool)
}

// Network is a running fabric. Everything in it happens on the event loop that
// it was built on.
type Network struct {
	loop     *event.Loop
	to       Attachment
	hosts    []uplink
	index    map[netip.Addr]int
	ports    []Port
	impaired []*impairment  // those of the wires that have one
	inlets   map[int]*inlet // by trunk
	numbered int            // ports of the whole fabric so far, those that this network does not carry included
	seed     uint64
	clamped  int64
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

// New builds the network of spec. Errors name the link, the host, or the
// parameter that does not fit.
func New(loop *event.Loop, spec Spec, to Attachment) (*Network, error) {
	n := &Network{loop: loop, to: to, hosts: make([]uplink, len(spec.Hosts)), index: map[netip.Addr]int{}, inlets: map[int]*inlet{}, seed: spec.Seed}
	for i, h := range spec.Hosts {
		if _, taken := n.index[h.Addr]; taken {
			return nil, fmt.Errorf("fabric: host %s: address %v is taken", h.Name, h.Addr)
		}
		n.index[h.Addr] = i
	}
	if err := n.build(spec); err != nil {
		return nil, fmt.Errorf("fabric: %w", err)
	}
	return n, nil
}

// Host is the index of the host with that address.
func (n *Network) Host(addr netip.Addr) (int, bool) {
	i, ok := n.index[addr]
	return i, ok
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
