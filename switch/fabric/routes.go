package fabric

import (
	"fmt"
	"slices"
)

// findRoutes are the tables of all nodes: the ports on shortest paths to each destination
// host. It is an error when a host cannot reach another one.
//
// Every path to a host ends with its only link. So all that other switches have for it is
// what they have for the switch at the end of that, its home: to look for each host anew
// would take minutes for ten thousand.
func findRoutes(nodes []node, hosts int) ([]table, error) {
	homes, lasts := findHomes(nodes, hosts)
	routes := newTables(nodes, hosts, homes)
	for number, last := range lasts {
		hops := distances(nodes, hosts, last, nil)
		if cut := slices.Index(hops[:hosts], -1); cut >= 0 {
			dst := slices.IndexFunc(homes, func(h home) bool { return h.number == int32(number) })
			return nil, fmt.Errorf("no path from %s to %s", nodes[cut].name, nodes[dst].name)
		}
		for at := hosts; at < len(nodes); at++ {
			if at == last {
				routes[at].addOwn()
				continue
			}
			routes[at].add(nodes[at].towards(hops, nil))
		}
	}
	return routes, nil
}

// newTables are tables of all nodes, without routes.
func newTables(nodes []node, hosts int, homes []home) []table {
	routes := make([]table, len(nodes))
	for at := hosts; at < len(nodes); at++ {
		routes[at] = table{homes: homes, ports: nodes[at].ports}
	}
	return routes
}

// findHomes lists the home of each host, and the node that each of the homes is.
func findHomes(nodes []node, hosts int) (homes []home, lasts []int) {
	numbers := map[int]int32{}
	for _, host := range nodes[:hosts] {
		last := host.links[0].far
		number, known := numbers[last]
		if !known {
			number = int32(len(lasts))
			numbers[last] = number
			lasts = append(lasts, last)
		}
		homes = append(homes, home{number, int32(host.links[0].peer)})
	}
	return homes, lasts
}

// towards lists the links of a node, by their place, that have a port to a neighbour which
// is a hop less away from a destination, and that are not down. hops are those of all nodes.
func (n node) towards(hops []int, down []bool) (links []int32) {
	for i, e := range n.links {
		if e.tx != nil && hops[e.far] >= 0 && hops[e.far] == hops[n.number]-1 && !e.isOf(down) {
			links = append(links, int32(i))
		}
	}
	return links
}

// node is a host or a switch while the network is being built. Hosts come
// first, so a host's node number is its index.
type node struct {
	name   string
	number int
	links  []end         // in the order of the spec
	ports  []transmitter // of the links of a switch that the network carries
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
		nodes = append(nodes, node{name: h.Name, number: len(nodes)})
	}
	for _, s := range spec.Switches {
		nodes = append(nodes, node{name: s, number: len(nodes)})
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

// distances are the links between every node and the node dst, -1 where there
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
