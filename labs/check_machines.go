package labs

import (
	"maps"
	"slices"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
)

// checkMachines wants every node that is placed to be one of the topology. Its machine is
// one of the lab's; a lab without any gets them later.
func checkMachines(r *schema.Reader, l *Lab, layout topologies.Layout) {
	l.Rack.Check(r)
	if len(layout.Names) == 0 {
		return // which has an error
	}
	nodes, machines := slices.Concat(layout.Switches, layout.Names), l.Rack.Names()
	known := make(map[string]bool, len(nodes))
	for _, name := range nodes {
		known[name] = true
	}
	for _, node := range slices.Sorted(maps.Keys(l.Placement)) {
		path := placementPath + "." + node
		if !known[node] {
			r.Fail(path, "%w", kind.Unknown("node", node, nodes))
		}
		if on := l.Placement[node]; len(machines) > 0 && !slices.Contains(machines, on) {
			r.Fail(path, "%w", kind.Unknown("machine", on, machines))
		}
	}
}
