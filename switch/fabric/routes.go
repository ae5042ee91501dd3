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

// add gives the next destination its paths.
func (t *table) add(ports []*transmitter) {
	i := slices.IndexFunc(t.sets, func(s []*transmitter) bool { return slices.Equal(s, ports) })
	if i < 0 {
		i = len(t.sets)
		t.sets = append(t.sets, slices.Clone(ports))
	}
	t.paths = append(t.paths, int32(i))
}

// findRoutes fills the tables of all nodes: the ports on shortest paths to each
// destination host. It is an error when a host cannot reach another one.
func findRoutes(nodes []node, hosts int, routes []table) error {
	var ports []*transmitter
	for dst := range hosts {
		hops := distances(nodes, hosts, dst)
		for at, node := range nodes {
			if at < hosts {
				if hops[at] < 0 {
					return fmt.Errorf("no path from %s to %s", node.name, nodes[dst].name)
				}
				continue
			}
			ports = ports[:0]
			for _, e := range node.links {
				if e.tx != nil && hops[e.far] >= 0 && hops[e.far] == hops[at]-1 {
					ports = append(ports, e.tx)
				}
			}
			routes[at].add(ports)
		}
	}
	return nil
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
