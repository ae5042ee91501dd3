// Package fabric is the network between the hosts: switches, links with rate
// and delay, and routes, advanced event by event in lab time.
package fabric

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"aqmlab/switch/packet"
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
	// Timeline is how links and hosts change meanwhile.
	Timeline Timeline
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
	Also []Address // further addresses of the same host
	// Delays are how long the host holds a packet back before its uplink takes
	// it: none for nil, the same for every packet with one entry, and with more
	// that which the flow's hash picks. Pure ACKs, and answers of RoCE, are not held
	// back.
	Delays []time.Duration
}

// Address is a further address of a host.
type Address struct {
	Addr netip.Addr
	// Codepoint is what the packets that come from it get where they enter the fabric.
	Codepoint packet.Codepoint
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

// FastestUplink is the highest rate that the timeline gives it.
func (s Spec) FastestUplink(host int) units.Rate {
	rate := s.Uplink(host)
	for _, state := range s.UplinkStates(host) {
		rate = max(rate, state.Rate)
	}
	return rate
}

// UplinkStates are those of the link of the host with that index, in the direction in
// which it sends.
func (s Spec) UplinkStates(host int) []LinkState {
	name := s.Hosts[host].Name
	for i, l := range s.Links {
		switch name {
		case l.A:
			return s.Timeline.states(2 * i)
		case l.B:
			return s.Timeline.states(2*i + 1)
		}
	}
	return nil
}

// checkPart tells whether the part of the network that Only names can run by itself.
func (s Spec) checkPart() error {
	switch {
	case s.Only == "":
		return nil
	case !slices.Contains(s.Switches, s.Only):
		return fmt.Errorf("part %s: no such switch", s.Only)
	case s.Pause.on():
		return errors.New("pause: flow control reaches over links inside of a network only, and this is a part of one")
	}
	return nil
}

// carries tells whether the network has that switch.
func (s Spec) carries(name string) bool { return s.Only == "" || s.Only == name }

// Edges lists what the network ends at: the hosts that are linked to a switch
// of it, and the links to switches that it does not carry, both by their index
// in the spec.
func (s Spec) Edges() (hosts, trunks []int) {
	index := map[string]int{}
	for i, h := range s.Hosts {
		index[h.Name] = i
	}
	for i, l := range s.Links {
		a, hostA := index[l.A]
		b, hostB := index[l.B]
		switch {
		case hostA && s.carries(l.B):
			hosts = append(hosts, a)
		case hostB && s.carries(l.A):
			hosts = append(hosts, b)
		case !hostA && !hostB && s.carries(l.A) != s.carries(l.B):
			trunks = append(trunks, i)
		}
	}
	slices.Sort(hosts)
	return hosts, trunks
}

// Pause is priority flow control (IEEE 802.1Qbb) on every link of a fabric, in
// one lossless class that all traffic is of. A switch counts what entered by
// each of its ports and has not left it, in lengths as ports count them. Above XOff it
// tells the far end of that port's link to stop, and at XOn or below to go on. The
// pause frames take the link's delay. An end that is stopped finishes the packet
// that is on the wire: what one queue fills stops all of them. A class of its own for
// each DSCP, as 802.1Qbb allows, would need ports and hosts that can stop one queue.
// The zero Pause is off.
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
// that the far end finishes. packet is the length of the largest packet.
func (p Pause) Peak(l Link, packet units.Size) units.Size {
	return p.XOff + 2*packet + units.Size(l.Rate.Bytes(2*l.Delay+l.Jitter))
}
