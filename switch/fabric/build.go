package fabric

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// New builds the network of spec. Errors name the link, the host, or the
// parameter that does not fit.
func New(loop *event.Loop, spec Spec, to Attachment) (*Network, error) {
	to.Kinds = to.Kinds.Made()
	n := &Network{loop: loop, to: to, hosts: make([]uplink, len(spec.Hosts)), index: map[netip.Addr]int{}, codepoints: map[netip.Addr]packet.Codepoint{}, inlets: map[int]*inlet{}, seed: spec.Seed}
	for i, h := range spec.Hosts {
		for _, a := range append([]Address{{Addr: h.Addr}}, h.Also...) {
			if _, taken := n.index[a.Addr]; taken {
				return nil, fmt.Errorf("fabric: host %s: address %v is taken", h.Name, a.Addr)
			}
			n.index[a.Addr] = i
			if a.Codepoint.Set {
				n.codepoints[a.Addr] = a.Codepoint
			}
		}
	}
	if err := n.build(spec); err != nil {
		return nil, fmt.Errorf("fabric: %w", err)
	}
	return n, nil
}

// build makes ports, wires and routes.
func (n *Network) build(spec Spec) error {
	nodes, err := connect(spec)
	if err != nil {
		return err
	}
	if err := errors.Join(spec.Pause.check(), spec.checkPart()); err != nil {
		return err
	}
	hosts := len(spec.Hosts)
	if len(n.to.Parts.Loops) == 0 {
		n.to.Parts.Loops = []*event.Loop{n.loop}
	}
	n.ground, n.borders = ground(n.to.Parts, hosts, len(nodes), n.to.Release)
	routes := make([]table, len(nodes))
	spec.place(nodes)
	for at := hosts; at < len(nodes); at++ {
		forward := forwarder(&routes[at], uint32(spec.Seed)^uint32(at)*0x9e3779b9)
		if err := n.addPorts(spec, nodes, at, forward); err != nil {
			return err
		}
	}
	for i := range spec.Hosts {
		if err := n.addHost(spec, nodes, i); err != nil {
			return err
		}
	}
	found, err := findRoutes(nodes, hosts)
	if err != nil {
		return err
	}
	copy(routes, found) // where the forwarders look
	n.nodes, n.routes, n.whole = nodes, routes, slices.Clone(routes)
	n.detours = findDetours(spec.Timeline, nodes, hosts, n.whole)
	n.lead(nodes, hosts)
	return nil
}

// lead tells every wire what takes its packets at the far end: a host, a switch,
// or what carries them to a switch beyond. All hosts share one function, so that
// packets find it in a near cache.
func (n *Network) lead(nodes []node, hosts int) {
	deliver := func(now time.Duration, k *packet.Packet) { n.to.Edge.Deliver(now, int(k.Dst), k) }
	for _, from := range nodes {
		for _, e := range from.links {
			switch {
			case e.away == nil:
			case e.far < hosts:
				e.away.lead(deliver)
			case e.beyond:
				e.away.lead(func(now time.Duration, k *packet.Packet) { n.to.Beyond(now, e.number/2, k) })
			default:
				far := nodes[e.far].links[e.peer].in
				far.from = e.away
				far.build()
			}
		}
	}
}

// addPorts makes one port for every link of the switch at, whose forwarder takes
// what the links bring.
func (n *Network) addPorts(spec Spec, nodes []node, at int, forward func(time.Duration, *packet.Packet)) error {
	if !spec.carries(nodes[at].name) {
		n.numbered += len(nodes[at].links)
		return nil
	}
	pool, here := port.NewPool(spec.Port.Buffer), n.ground[at]
	drops := n.drops(here, spec.Pause)
	for i := range nodes[at].links {
		e := &nodes[at].links[i]
		ps := n.nextPort(spec.Port, e.link.Rate)
		ps.FacesHost = e.far < len(spec.Hosts)
		made := Port{Switch: nodes[at].name, Far: nodes[e.far].name}
		var err error
		if made.Port, err = port.NewInPool(ps, n.to.Kinds, pool, drops); err == nil {
			made.Ingress, err = port.NewIngress(ps, port.Outlet{Forward: forward, Release: drops})
		}
		if err != nil {
			return fmt.Errorf("switch %s, port to %s: %w", made.Switch, made.Far, err)
		}
		e.tx = &nodes[at].ports[i]
		e.tx.init(made.Port, made.Ingress)
		e.away = &e.tx.wire
		n.initWire(e.away, at, *e)
		e.in = &entrance{gate: made.Ingress, forward: forward}
		if spec.Pause.on() {
			far, ways := n.ground[e.far], 2*len(spec.Links)
			f := newFrames(far, ways+e.number, n.borders.box(here.part, far.part), n.stopper(nodes, *e))
			e.in.intake = newIntake(here.lane, spec.Pause, len(n.ports), *e, f)
			e.in.intake.lengths = spec.Port.Lengths
			e.tx.left = n.left
		}
		if e.beyond {
			n.inlets[e.number/2] = newInlet(here.lane, *e, nodes[e.far].links[e.peer].states, e.in)
		}
		e.in.build()
		made.in = e.in
		n.ports, n.makings = append(n.ports, made), append(n.makings, making{ps, e.tx, drops})
	}
	return nil
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
		if err := n.addHostPort(u, spec.Port, Port{Switch: h.Name, Far: far}, at, links[0]); err != nil {
			return err
		}
	} else {
		u.wire = new(wire)
		n.initWire(u.wire, at, links[0])
		if spec.Pause.on() {
			u.gate = &gate{wire: u.wire, send: func(at time.Duration, k *packet.Packet) { n.transmit(at, u.wire, k) }}
			u.gate.free = event.NewTimer(u.gate.serve)
		}
	}
	links[0].away = u.wire
	u.delays, u.send = h.Delays, func(at time.Duration, k *packet.Packet) { n.offer(at, u, k) }
	u.line = newDelayLine(u.wire, h.Delays, spec.Timeline.ofHost(at), u.send)
	return nil
}

// addHostPort makes the port that a host sends by.
func (n *Network) addHostPort(u *uplink, spec port.Spec, made Port, at int, e end) (err error) {
	spec = n.nextPort(spec, e.link.Rate)
	if made.Port, err = port.New(spec, n.to.Kinds, n.to.Release); err != nil {
		return fmt.Errorf("port of host %s: %w", made.Switch, err)
	}
	u.port = new(transmitter)
	u.port.init(made.Port, nil)
	u.wire = &u.port.wire
	n.initWire(u.wire, at, e)
	n.ports, n.makings = append(n.ports, made), append(n.makings, making{spec, u.port, n.to.Release})
	return nil
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

// initWire makes a wire the direction that leads away from a node's end of a link.
func (n *Network) initWire(w *wire, at int, e end) {
	near, far, delay := n.ground[at], n.ground[e.far], e.link.Delay
	if e.beyond {
		far, delay = near, sentDelay(e.link.Delay)
	}
	i := newImpairment(e, delay, n.seed, near.release, far.release)
	if i != nil {
		n.impaired = append(n.impaired, i)
	}
	w.init(near, far, e, delay, i)
	if b := n.borders.box(near.part, far.part); b != nil {
		w.cross(b)
	}
}

// nextPort is how the next port is built, onto a link of that rate.
func (n *Network) nextPort(spec port.Spec, rate units.Rate) port.Spec {
	spec.Rate = rate
	spec.Seed ^= uint64(n.numbered) * 0x9e3779b97f4a7c15
	n.numbered++
	return spec
}
