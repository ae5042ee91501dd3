package labs

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aqmlab/kind"
	"aqmlab/labs/clab"
	"aqmlab/units"
)

// Topologies lists every topology. What hosts, switches and links it has is in
// the file of its name.
func Topologies() kind.Table[TopologyEnv, Layout] {
	return kind.Table[TopologyEnv, Layout]{
		kind.Row(star, "hosts around one switch", struct{}{}, newStar),
		kind.Row("leaf-spine", "leaf switches with hosts, each linked to every spine switch", leafSpine{Leaves: 2, Spines: 2, HostsPerLeaf: 4}, newLeafSpine),
		kind.Row("tree", "racks of hosts, whose switches are linked to one core switch", tree{Racks: 2, HostsPerRack: 4}, newTree),
		kind.Row("fat-tree", "three layers of switches with k ports (Al-Fares et al., SIGCOMM 2008)", fatTree{K: 4}, newFatTree),
		kind.Row(onFile, "the network of a containerlab file", containerlab{}, newContainerlab),
	}
}

// TopologyEnv is what a topology is laid out for.
type TopologyEnv struct {
	Hosts int        // of a star; the other topologies derive it
	Rate  units.Rate // of the links of hosts
}

// Layout is how the hosts and switches of a topology are linked. Switches are
// meant by their places in Switches.
type Layout struct {
	Switches []string
	Racks    []int   // the switch of each host
	Trunks   []Trunk // links between switches
	Hops     int     // links on the longest path between two hosts

	// What follows is of topologies that a file describes.

	Names      []string      // of the hosts; without any they are h1, h2 ...
	Access     []clab.Traits // what the links of hosts say of themselves; nil: nothing
	Interfaces [][2]string   // names at the ends of links, host before switch: those of hosts, then trunks
	Digest     string        // SHA-256 of the file
}

// Trunk is a link between two switches.
type Trunk struct {
	A, B int
	clab.Traits
}

// addSwitches adds n switches, named by prefix and number, and returns the place
// of the first.
func (l *Layout) addSwitches(prefix string, n int) (first int) {
	first = len(l.Switches)
	for i := range n {
		l.Switches = append(l.Switches, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return first
}

// addHosts links n hosts to a switch.
func (l *Layout) addHosts(rack, n int) {
	l.Racks = append(l.Racks, slices.Repeat([]int{rack}, n)...)
}

func (l *Layout) addTrunk(a, b int, rate units.Rate) {
	l.Trunks = append(l.Trunks, Trunk{a, b, clab.Traits{Rate: rate}})
}

// name is that of a host.
func (l *Layout) name(host int) string {
	if l.Names != nil {
		return l.Names[host]
	}
	return fmt.Sprintf("h%d", host+1)
}

// access is what the link of a host says of itself.
func (l *Layout) access(host int) clab.Traits {
	if l.Access != nil {
		return l.Access[host]
	}
	return clab.Traits{}
}

const (
	topologyPath  = "topology"
	hostsPath     = "topology.hosts"
	linkDelayPath = "topology.link_delay"
)

// maxHosts is how many addresses 10.77.0.0/16 has, without its first and last.
const maxHosts = 1<<16 - 2

// maxSwitches bounds the switches of one layer.
const maxSwitches = 1000

// layout lays the topology out. A lab that was loaded has no error.
func (t Topology) layout() (Layout, error) {
	if t.laid != nil {
		return *t.laid, nil
	}
	return Topologies().New(t.Kind, t.Params, TopologyEnv{Hosts: t.Hosts, Rate: t.Rate})
}

// Racks is the number of each host's rack: hosts of one rack share the switch
// that they are linked to. Racks count from zero. The lab is one that was
// loaded.
func (t Topology) Racks() []int {
	layout, err := t.layout()
	if err != nil {
		panic(fmt.Sprintf("a loaded lab that cannot be laid out: %v", err))
	}
	return layout.Racks
}

// topology reads the parameters of the topology. Its kind is a key of its own.
func (r *reader) topology(l *Lab, dir string) error {
	if r.sound(join(topologyPath, "kind")) {
		l.Topology.Params = r.choice(r.form.choice(topologyPath), kind.Choice{Kind: star}).Params
	}
	return r.anchorTopology(l.Topology.Params, dir)
}

// checkTopology answers the layout, or an empty one when there can be none.
func (r *reader) checkTopology(l *Lab) Layout {
	t := &l.Topology
	if t.Rate == 0 && t.Kind != onFile && r.sound("topology.rate") {
		r.fail("topology.rate", "missing: want a rate such as 10Gbps or 100Mbps")
	}
	c, ch := r.form.choice(topologyPath), kind.Choice{Kind: t.Kind, Params: t.Params}
	if !r.sound(join(c.path, c.kindKey)) {
		return Layout{}
	}
	if t.Kind != star && r.uses(hostsPath, join(c.path, c.kindKey)) {
		r.fail(hostsPath, "not used when topology.kind is %s: want %s", t.Kind, star)
	}
	checkUsed(r, c, ch, Topologies())
	layout := build(r, c, ch, func(params map[string]any) (Layout, error) {
		if t.Kind == onFile {
			return r.layOutFile(t, params)
		}
		return Topologies().New(t.Kind, params, TopologyEnv{Hosts: t.Hosts, Rate: t.Rate})
	})
	t.Hosts = len(layout.Racks)
	return layout
}

// uses tells whether a key is set, other than by a file that sets it for the
// kind that an override has replaced.
func (r *reader) uses(path, kindPath string) bool {
	return r.get(path) != nil && (r.origins[path] != "" || r.origins[kindPath] == "")
}

// checkUsed refuses the parameters that only other kinds of a table take.
func checkUsed[E, T any](r *reader, c choice, ch kind.Choice, table kind.Table[E, T]) {
	for _, name := range slices.Sorted(maps.Keys(ch.Params)) {
		var takers []string
		for _, row := range table {
			if slices.ContainsFunc(row.Params, func(p kind.Param) bool { return p.Name == name }) {
				takers = append(takers, row.Name)
			}
		}
		if len(takers) > 0 && !slices.Contains(takers, ch.Kind) {
			r.fail(join(c.path, name), "not used when %s is %s: want %s", join(c.path, c.kindKey), ch.Kind, strings.Join(takers, " or "))
		}
	}
}

// within is the error for a parameter outside low to high.
func within(param string, v, low, high int) error {
	if v < low || v > high {
		return kind.Invalid(param, "%d is outside %d to %d", v, low, high)
	}
	return nil
}

// roomFor is the error for more hosts than there are addresses; param says how
// many there are in each rack.
func roomFor(param string, racks, each int) error {
	if racks*each > maxHosts {
		return kind.Invalid(param, "%d racks of %d hosts: want at most %d hosts", racks, each, maxHosts)
	}
	return nil
}

// coreRate is the rate of links between switches, for which zero stands for that
// of the hosts' links.
func coreRate(set units.Rate, env TopologyEnv) (units.Rate, error) {
	if set == 0 {
		return env.Rate, nil
	}
	if set < slowest || set > fastest {
		return 0, kind.Invalid("core_rate", "%v is outside %v to %v", set, slowest, fastest)
	}
	return set, nil
}

// linkDelays are the one-way delays of the links of hosts and of those between
// switches, so that a round trip between the hosts that are furthest apart takes
// the base RTT.
func (l *Lab) linkDelays(hops int) (access, trunk time.Duration) {
	switch {
	case l.Topology.LinkDelay > 0:
		return l.Topology.LinkDelay, l.Topology.LinkDelay
	case l.RTT.Base == baseHosts:
		return l.RTT.Min / 4, 0 // two links of hosts, there and back
	}
	each := l.RTT.Min / time.Duration(2*hops)
	return each, each
}
