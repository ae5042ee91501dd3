package fabric

import (
	"fmt"
	"slices"
	"time"

	"aqmlab/switch/packet"
)

// table is where a node sends what it forwards. Most destinations share their paths, so
// each set of paths is stored once. With a list for each of a thousand hosts a switch
// would find none of them in a near cache.
type table struct {
	paths []int32          // for each destination host, which of sets leads there
	sets  [][]*transmitter // ports on shortest paths, each set once
}

// add gives the next destination its paths, and returns which of the sets they are.
func (t *table) add(ports []*transmitter) int32 {
	i := slices.IndexFunc(t.sets, func(s []*transmitter) bool { return slices.Equal(s, ports) })
	if i < 0 {
		i = len(t.sets)
		t.sets = append(t.sets, slices.Clone(ports))
	}
	t.lead(int32(i))
	return int32(i)
}

// lead gives the next destination the paths of a set.
func (t *table) lead(set int32) { t.paths = append(t.paths, set) }

// findRoutes fills the tables of all nodes: the ports on shortest paths to each
// destination host. It is an error when a host cannot reach another one.
//
// Every path to a host ends with its only link. So all hosts of a switch share what the
// other switches have for them: to look for each host anew would take minutes for ten
// thousand.
func findRoutes(nodes []node, hosts int, routes []table) error {
	shared := make([][]int32, len(nodes)) // by the last node before a host: the sets of all switches
	for dst := range hosts {
		link := nodes[dst].links[0]
		if shared[link.far] == nil {
			var err error
			if shared[link.far], err = findRoute(nodes, hosts, dst, routes); err != nil {
				return err
			}
			continue
		}
		for at := hosts; at < len(nodes); at++ {
			set := shared[link.far][at]
			if t := &routes[at]; at == link.far { // which leads to no other host by this port
				set = int32(len(t.sets))
				t.sets = append(t.sets, nodes[at].links[link.peer].ports())
			}
			routes[at].lead(set)
		}
	}
	return nil
}

// findRoute adds the paths to one host to the tables, and tells which sets they are.
func findRoute(nodes []node, hosts, dst int, routes []table) ([]int32, error) {
	hops, sets := distances(nodes, hosts, dst, nil), make([]int32, len(nodes))
	var ports []*transmitter
	for at, node := range nodes {
		if at >= hosts {
			ports = node.towards(ports[:0], hops, hops[at]-1, nil)
			sets[at] = routes[at].add(ports)
		} else if hops[at] < 0 {
			return nil, fmt.Errorf("no path from %s to %s", node.name, nodes[dst].name)
		}
	}
	return sets, nil
}

// ports is the port of an end, if it has one.
func (e end) ports() []*transmitter {
	if e.tx == nil {
		return nil
	}
	return []*transmitter{e.tx}
}

// towards adds the node's ports to neighbours that are so many hops away from the
// destination, by links that are not down.
func (n node) towards(ports []*transmitter, hops []int, away int, down []bool) []*transmitter {
	for _, e := range n.links {
		if e.tx != nil && hops[e.far] >= 0 && hops[e.far] == away && !e.isOf(down) {
			ports = append(ports, e.tx)
		}
	}
	return ports
}

// forwarder returns what a switch does with a packet: of the ports on shortest
// paths to its destination, pick one by the flow's hash.
func forwarder(routes *table, salt uint32) func(time.Duration, *packet.Packet) {
	return func(now time.Duration, k *packet.Packet) {
		ports := routes.sets[routes.paths[k.Dst]]
		if len(ports) == 1 {
			ports[0].enqueue(now, k)
			return
		}
		ports[spread(k.Hash^salt, len(ports))].enqueue(now, k)
	}
}

// spread maps a hash evenly to one of n paths. The hash is mixed once more so
// that two switches do not choose alike.
func spread(hash uint32, n int) int {
	h := uint64(hash) * 0x9e3779b97f4a7c15
	return int((h >> 32) * uint64(n) >> 32)
}

// node is a host or a switch while the network is being built. Hosts come
// first, so a host's node number is its index.
type node struct {
	name  string
	links []end // in the order of the spec
}

// end is one node's side of a link.
type end struct {
	link   Link
	states []LinkState  // of the direction that leads away from the node, in the timeline
	number int          // of the direction that leads away from the node, in the spec
	far    int          // node at the other end
	peer   int          // which of the far node's links it is
	beyond bool         // the far node is a switch that the network does not carry
	away   *wire        // that leads away from the node; nil when that is not carried
	tx     *transmitter // before the wire that leads away; nil on a host without a port
	in     *entrance    // takes what the link brings to a switch; nil on a host
}

// connect reads the nodes and links of a spec.
func connect(spec Spec) ([]node, error) {
	var nodes []node
	number := map[string]int{}
	for _, h := range spec.Hosts {
		nodes = append(nodes, node{name: h.Name})
	}
	for _, s := range spec.Switches {
		nodes = append(nodes, node{name: s})
	}
	for i, n := range nodes {
		if _, taken := number[n.name]; taken {
			return nil, fmt.Errorf("two nodes are named %s", n.name)
		}
		number[n.name] = i
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
		nodes[a].links = append(nodes[a].links, end{link: l, states: spec.Timeline.states(2 * i), number: 2 * i, far: b, peer: atB, beyond: b >= hosts && !spec.carries(l.B)})
		nodes[b].links = append(nodes[b].links, end{link: l, states: spec.Timeline.states(2*i + 1), number: 2*i + 1, far: a, peer: atA, beyond: a >= hosts && !spec.carries(l.A)})
	}
	return nodes, spec.Timeline.check(spec)
}

// isOf tells whether the end is one of a set of links; nil is none.
func (e end) isOf(links []bool) bool { return links != nil && links[e.number/2] }

// distances are the links between every node and the host dst, -1 where there
// is no path. Paths lead through switches only, and by no link that is down.
func distances(nodes []node, hosts, dst int, down []bool) []int {
	hops := slices.Repeat([]int{-1}, len(nodes))
	hops[dst] = 0
	for queue := []int{dst}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if at < hosts && at != dst {
			continue
		}
		for _, e := range nodes[at].links {
			if hops[e.far] < 0 && !e.isOf(down) {
				hops[e.far] = hops[at] + 1
				queue = append(queue, e.far)
			}
		}
	}
	return hops
}
