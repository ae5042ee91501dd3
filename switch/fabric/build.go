package fabric

import (
	"errors"
	"fmt"
	"time"

	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// node is a host or a switch while the network is being built. Hosts come
// first, so a host's node number is its index.
type node struct {
	name  string
	links []end // in the order of the spec
}

// end is one node's side of a link.
type end struct {
	link   Link
	number int                                       // of the direction that leads away from the node, in the spec
	far    int                                       // node at the other end
	peer   int                                       // which of the far node's links it is
	beyond bool                                      // the far node is a switch that the network does not carry
	away   *wire                                     // that leads away from the node; nil when that is not carried
	back   *wire                                     // that leads to the node, a switch; nil when it comes from beyond
	tx     *transmitter                              // before the wire that leads away; nil on a host without a port
	enter  func(now time.Duration, k *packet.Packet) // takes what the link brings to a switch
}

// build makes wires, ports and routes.
func (n *Network) build(spec Spec) error {
	nodes, err := connect(spec)
	if err != nil {
		return err
	}
	if err := errors.Join(spec.Pause.check(), spec.checkPart()); err != nil {
		return err
	}
	hosts := len(spec.Hosts)
	forward := make([]func(time.Duration, *packet.Packet), len(nodes))
	for at := hosts; at < len(nodes); at++ {
		if err := n.addPorts(spec, nodes, at, forward); err != nil {
			return err
		}
	}
	for i, h := range spec.Hosts {
		if err := n.addHost(h, spec, nodes, i); err != nil {
			return err
		}
	}
	routes, err := findRoutes(nodes, hosts)
	if err != nil {
		return err
	}
	for at := hosts; at < len(nodes); at++ {
		if !spec.carries(nodes[at].name) {
			continue
		}
		forward[at] = forwarder(&routes[at], uint32(spec.Seed)^uint32(at)*0x9e3779b9)
		for i := range nodes[at].links {
			e := &nodes[at].links[i]
			if e.enter == nil {
				e.enter = forward[at]
			}
			if spec.Pause.on() {
				n.watch(spec.Pause, nodes, e)
			}
		}
	}
	n.lead(nodes, hosts)
	return nil
}

// lead tells every wire what takes its packets at the far end: a host, a switch,
// or what carries them to a switch beyond. That of a switch is the same function
// for all wires, if nothing stands before its forwarder, and that of all hosts
// is, so that packets meet it in a near cache.
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
				far := &nodes[e.far].links[e.peer]
				far.back = e.away
				far.back.lead(far.enter)
			}
		}
	}
}

// connect reads the nodes and links of a spec.
func connect(spec Spec) ([]node, error) {
	var nodes []node
	number := map[string]int{}
	add := func(name string) error {
		if _, taken := number[name]; taken {
			return fmt.Errorf("two nodes are named %s", name)
		}
		number[name] = len(nodes)
		nodes = append(nodes, node{name: name})
		return nil
	}
	for _, h := range spec.Hosts {
		if err := add(h.Name); err != nil {
			return nil, err
		}
	}
	for _, s := range spec.Switches {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	hosts := len(spec.Hosts)
	for i, l := range spec.Links {
		a, okA := number[l.A]
		b, okB := number[l.B]
		switch {
		case !okA || !okB:
			return nil, fmt.Errorf("link %s to %s: no such node", l.A, l.B)
		case a == b:
			return nil, fmt.Errorf("link %s to %s: a node cannot be linked to itself", l.A, l.B)
		case l.Rate <= 0 || l.Delay < 0:
			return nil, fmt.Errorf("link %s to %s: rate %v must be above zero, delay %v not below", l.A, l.B, l.Rate, l.Delay)
		case l.Jitter < 0 || !(l.LossRate >= 0 && l.LossRate < 1): // NaN is refused, too
			return nil, fmt.Errorf("link %s to %s: jitter %v must not be below zero, loss rate %v from 0 to below 1", l.A, l.B, l.Jitter, l.LossRate)
		}
		atA, atB := len(nodes[a].links), len(nodes[b].links)
		nodes[a].links = append(nodes[a].links, end{link: l, number: 2 * i, far: b, peer: atB, beyond: b >= hosts && !spec.carries(l.B)})
		nodes[b].links = append(nodes[b].links, end{link: l, number: 2*i + 1, far: a, peer: atA, beyond: a >= hosts && !spec.carries(l.A)})
	}
	return nodes, nil
}

// addHost makes the uplink of a host.
func (n *Network) addHost(h Host, spec Spec, nodes []node, at int) error {
	links := nodes[at].links
	if len(links) != 1 {
		return fmt.Errorf("host %s has %d links, want 1", h.Name, len(links))
	}
	for _, d := range h.Delays {
		if d < 0 {
			return fmt.Errorf("host %s: delay %v is below zero", h.Name, d)
		}
	}
	if !spec.carries(nodes[links[0].far].name) {
		n.numbered++
		n.hosts = append(n.hosts, uplink{})
		return nil
	}
	var u uplink
	var send func(at time.Duration, k *packet.Packet)
	if spec.HostPorts {
		if err := n.addHostPort(&u, spec.Port, Port{Switch: h.Name, Far: nodes[links[0].far].name}, links[0]); err != nil {
			return err
		}
		send = u.port.offer
	} else {
		u.wire = new(wire)
		u.wire.init(n, links[0])
		send = func(at time.Duration, k *packet.Packet) { n.transmit(at, u.wire, k) }
		if spec.Pause.on() {
			u.gate = newGate(n.loop, u.wire, send)
			send = u.gate.take
		}
	}
	links[0].away = u.wire
	u.line = newDelayLine(n.loop, u.wire.rate, h.Delays, send)
	n.hosts = append(n.hosts, u)
	return nil
}

// addPorts makes one port for every link of the switch at, with an ingress side
// that takes what the link brings and hands it on to the switch's forwarder.
func (n *Network) addPorts(spec Spec, nodes []node, at int, forward []func(time.Duration, *packet.Packet)) error {
	if !spec.carries(nodes[at].name) {
		n.numbered += len(nodes[at].links)
		return nil
	}
	pool, release := port.NewPool(spec.Port.Buffer), n.to.Release
	if spec.Pause.on() {
		release = n.dropped
	}
	for i := range nodes[at].links {
		e := &nodes[at].links[i]
		ps := n.nextPort(spec.Port, e.link.Rate)
		made := Port{Switch: nodes[at].name, Far: nodes[e.far].name, end: e}
		var err error
		if made.Port, err = port.NewInPool(ps, n.to.Kinds, pool, release); err == nil {
			made.Ingress, err = port.NewIngress(ps, func(now time.Duration, k *packet.Packet) { forward[at](now, k) })
		}
		if err != nil {
			return fmt.Errorf("switch %s, port to %s: %w", made.Switch, made.Far, err)
		}
		if made.Ingress != nil {
			e.enter = made.Ingress.Enter
		}
		e.tx = n.newTransmitter(made, *e)
		e.away = &e.tx.wire
		if e.beyond {
			n.addInlet(e)
		}
		n.ports = append(n.ports, made)
	}
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

// nextPort is how the next port is built, onto a link of that rate.
func (n *Network) nextPort(spec port.Spec, rate units.Rate) port.Spec {
	spec.Rate = rate
	spec.Seed ^= uint64(n.numbered) * 0x9e3779b97f4a7c15
	n.numbered++
	return spec
}
