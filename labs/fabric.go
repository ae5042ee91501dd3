package labs

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/labs/clab"
	"aqmlab/labs/topologies"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
	"aqmlab/units"
)

// Fabric is the network for one scheme of the lab: hosts h1, h2 ..., rack after
// rack, or those of a file in its order, with the addresses 10.77.0.1, 10.77.0.2
// ..., around the switches of the topology. The links' delays make up the base RTT, and the hosts' delays
// what RTTs have above it; the latter are drawn with the seed. The error for a
// scheme that the lab does not have wraps [kind.ErrUnknown].
func (l *Lab) Fabric(scheme string, seed uint64) (fabric.Spec, error) {
	spec, err := l.fabric(scheme, seed)
	if err != nil {
		return fabric.Spec{}, fmt.Errorf("laying out lab %s: %w", l.Name, err)
	}
	return spec, nil
}

func (l *Lab) fabric(scheme string, seed uint64) (fabric.Spec, error) {
	p, err := l.port(scheme, seed)
	if err != nil {
		return fabric.Spec{}, err
	}
	layout, err := l.Topology.layout()
	if err != nil {
		return fabric.Spec{}, err
	}
	delays, err := l.delays(seed, len(layout.Racks))
	if err != nil {
		return fabric.Spec{}, err
	}
	access, trunk := l.linkDelays(layout.Hops)
	spec := fabric.Spec{Switches: layout.Switches, Port: p, HostPorts: l.Host.Port == HostSwitchPort, Pause: l.Switch.Pause, Seed: seed}
	for i, rack := range layout.Racks {
		h := fabric.Host{Name: layout.Names[i], Addr: address(i), Also: l.addresses(i), Delays: delays[i]}
		spec.Hosts = append(spec.Hosts, h)
		spec.Links = append(spec.Links, link(h.Name, layout.Switches[rack], layout.Access[i], l.Topology.Rate, access))
	}
	for _, t := range layout.Trunks {
		spec.Links = append(spec.Links, link(layout.Switches[t.A], layout.Switches[t.B], t.Traits, l.Topology.Rate, trunk))
	}
	spec.Timeline = l.timeline(spec)
	return spec, nil
}

// link is a link between two nodes. What it does not say of itself is given.
func link(a, b string, t clab.Traits, rate units.Rate, delay time.Duration) fabric.Link {
	return fabric.Link{A: a, B: b, Rate: cmp.Or(t.Rate, rate), Delay: t.DelayOr(delay), Jitter: t.Jitter, LossRate: float64(t.Loss)}
}

func address(host int) netip.Addr {
	n := host + 1
	return netip.AddrFrom4([4]byte{10, 77, byte(n >> 8), byte(n)})
}

// addresses are the further ones of a host: one for each of the lab's transports, from
// 10.78.0.1 on for the first, and so on. By these real hosts tell what to speak.
func (l *Lab) addresses(host int) []fabric.Address {
	var all []fabric.Address
	for i, s := range l.Transports {
		own := address(host).As4()
		own[1] += byte(1 + i)
		made, _ := s.Build() // a lab that was loaded has no error
		all = append(all, fabric.Address{Addr: netip.AddrFrom4(own), Codepoint: s.Codepoint(made)})
	}
	return all
}

func (l *Lab) port(scheme string, seed uint64) (port.Spec, error) {
	names := l.schemeNames()
	i := slices.Index(names, scheme)
	if i < 0 {
		return port.Spec{}, kind.Unknown("scheme", scheme, names)
	}
	rtts, err := l.RTT.sums()
	if err != nil {
		return port.Spec{}, err
	}
	spec := port.Spec{
		Rate:       l.Topology.Rate,
		RTTs:       rtts,
		Queues:     l.Switch.Queues,
		Lengths:    l.Switch.lengths(),
		MTU:        l.Host.MTU,
		Buffer:     l.buffer(),
		Sharing:    clone(l.sharingOf(l.Schemes[i])),
		Scheduler:  clone(l.schedulerOf(l.Schemes[i])),
		Scheme:     clone(l.Schemes[i].AQM),
		Ingress:    clone(l.Schemes[i].Ingress),
		Classifier: clone(l.Switch.Classifier),
		Seed:       seed,
	}
	if l.Switch.Limiter.RateFraction < 1 {
		spec.Limiter = l.Switch.Limiter
	}
	return spec, nil
}

// buffer is what a port may fill: its own memory, or the pool. A lab that was loaded has
// no error.
func (l *Lab) buffer() units.Size {
	b := l.Switch.Buffer
	made, _ := port.Sharings().New(b.Sharing, b.Params, l.sharingEnv(nil))
	switch {
	case made.PerQueue > 0:
		return units.Size(l.Switch.Queues) * made.PerQueue
	case made.Pooled:
		return b.Pool
	}
	return b.PerPort
}

// sharingEnv is what sharings are built for, where none is to run.
func (l *Lab) sharingEnv(scheduler sched.Scheduler) port.SharingEnv {
	rtts, _ := l.RTT.sums() // what is wrong with them is told elsewhere
	return port.SharingEnv{Queues: l.Switch.Queues, Weights: sched.Weights(scheduler, l.Switch.Queues), FullPacket: l.FullPacket(), RTTs: rtts}
}

// sharingOf is how packet memory is shared under a scheme.
func (l *Lab) sharingOf(s Scheme) kind.Choice {
	if s.Sharing.Kind != "" {
		return s.Sharing
	}
	return kind.Choice{Kind: l.Switch.Buffer.Sharing, Params: l.Switch.Buffer.Params}
}

// clone keeps the receiver of a choice from changing the lab.
func clone(c kind.Choice) kind.Choice { return kind.Choice{Kind: c.Kind, Params: maps.Clone(c.Params)} }

// layout lays the topology out. A lab that was loaded has no error.
func (t Topology) layout() (topologies.Layout, error) {
	if t.laid != nil {
		return *t.laid, nil
	}
	return topologies.Table().New(t.Kind, t.Params, topologies.Env{Hosts: t.Hosts, Rate: t.Rate})
}

// Racks is the number of each host's rack: hosts of one rack share the switch
// that they are linked to. Racks count from zero. The lab is one that was
// loaded.
func (t Topology) Racks() []int { return t.loadedLayout().Racks }

// Hops is the number of links on the longest path between two hosts. The lab is one
// that was loaded.
func (t Topology) Hops() int { return t.loadedLayout().Hops }

func (t Topology) loadedLayout() topologies.Layout {
	layout, err := t.layout()
	if err != nil {
		panic(fmt.Sprintf("a loaded lab that cannot be laid out: %v", err))
	}
	return layout
}

// hasDelays tells whether the topology says what the delays of links are.
func (t Topology) hasDelays() bool {
	if t.laid != nil {
		if some, _ := t.laid.OwnDelays(); some > 0 {
			return true
		}
	}
	return t.LinkDelay > 0
}
