// Package fabric is the network between the hosts: switches, links with rate
// and delay, and routes, advanced event by event in lab time.
package fabric

import (
	"net/netip"
	"time"

	"aqmlab/switch/port"
	"aqmlab/units"
)

// Spec says how a fabric is built. It is plain data: a lab makes it, and it
// crosses process boundaries as JSON.
type Spec struct {
	Hosts    []Host
	Switches []string
	Links    []Link
	// Port is how every switch port is built; the rate is that of its link.
	Port port.Spec
	// HostPorts makes each host send by a port of its own that is built like those
	// of switches, as the hosts of ns-2 and ns-3 do: it queues, marks and drops.
	// Without, an uplink keeps all that it is given, and marks nothing.
	HostPorts bool
	// Pause is the flow control on all links.
	Pause Pause
	// Seed is mixed into the hash that spreads flows over equal paths.
	Seed uint64
	// Only names the one switch that the network carries, as a part of the whole
	// that the spec describes: its routes, seeds and counts are those that it has
	// there. Empty is the whole.
	Only string
}

// Host is an edge of the fabric.
type Host struct {
	Name string
	Addr netip.Addr
	// Delays are how long the host holds a packet back before its uplink takes
	// it: none for nil, the same for every packet with one entry, and with more
	// that which the flow's hash picks. Pure ACKs are not held back.
	Delays []time.Duration
}

// Link is a full-duplex link between two nodes (hosts or switches), by name.
type Link struct {
	A, B  string
	Rate  units.Rate
	Delay time.Duration // one way
	// Jitter is how much longer a packet may take: each by a time of its own, any
	// from zero to Jitter with the same probability. Packets keep their order, so
	// one that is late holds up those behind it.
	Jitter time.Duration
	// LossRate is the probability, from zero to below one, that a packet is lost
	// on its way, whatever happens to others. [Network.Lost] counts them.
	LossRate float64
}

// Uplink is the rate of the link of the host with that index; zero when it has
// none.
func (s Spec) Uplink(host int) units.Rate {
	name := s.Hosts[host].Name
	for _, l := range s.Links {
		if l.A == name || l.B == name {
			return l.Rate
		}
	}
	return 0
}
