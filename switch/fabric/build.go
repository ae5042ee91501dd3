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
	number int          // of the direction that leads away from the node, in the spec
	far    int          // node at the other end
	peer   int          // which of the far node's links it is
	beyond bool         // the far node is a switch that the network does not carry
	away   *wire        // that leads away from the node; nil when that is not carried
	tx     *transmitter // before the wire that leads away; nil on a host without a port
	in     *entrance    // takes what the link brings to a switch; nil on a host
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
	routes := make([]table, len(nodes))
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
	if err := findRoutes(nodes, hosts, routes); err != nil {
		return err
	}
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

// addPorts makes one port for every link of the switch at, whose forwarder takes
// what the links bring.
func (n *Network) addPorts(spec Spec, nodes []node, at int, forward func(time.Duration, *packet.Packet)) error {
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
		made := Port{Switch: nodes[at].name, Far: nodes[e.far].name}
		var err error
		if made.Port, err = port.NewInPool(ps, n.to.Kinds, pool, release); err == nil {
			made.Ingress, err = port.NewIngress(ps, forward)
		}
		if err != nil {
			return fmt.Errorf("switch %s, port to %s: %w", made.Switch, made.Far, err)
		}
		e.tx = n.newTransmitter(made, *e)
		e.away = &e.tx.wire
		e.in = &entrance{gate: made.Ingress, forward: forward}
		if spec.Pause.on() {
			e.in.intake = n.newIntake(spec.Pause, nodes, *e)
			e.tx.left = n.left
		}
		if e.beyond {
			n.addInlet(*e)
		}
		e.in.build()
		made.in = e.in
		n.ports = append(n.ports, made)
	}
	return nil
}

// nextPort is how the next port is built, onto a link of that rate.
func (n *Network) nextPort(spec port.Spec, rate units.Rate) port.Spec {
	spec.Rate = rate
	spec.Seed ^= uint64(n.numbered) * 0x9e3779b97f4a7c15
	n.numbered++
	return spec
}
