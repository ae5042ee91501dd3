package machines

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"aqmlab/kind"
	"aqmlab/labs/inventory"
	"aqmlab/switch/fabric"
)

// Capacity is what a machine has for a lab.
type Capacity struct {
	Name  string
	Cores int // at least 1
}

// Capacities are those of an inventory, as it tells them: the CPUs of each machine, or the
// same of all unless it names those of every machine.
func Capacities(v inventory.Inventory) []Capacity {
	told := !slices.ContainsFunc(v.Machines, func(m inventory.Machine) bool { return len(m.CPUs) == 0 })
	all := make([]Capacity, len(v.Machines))
	for i, m := range v.Machines {
		all[i] = Capacity{Name: m.Name, Cores: 1}
		if told {
			all[i].Cores = len(m.CPUs)
		}
	}
	return all
}

// Place says which machine each host and each switch is on. Pins, machines by the names of
// nodes, come first.
//
// Hosts are spread in proportion to cores. A switch with hosts is on the machine that has
// room for the most of them, and they are beside it as far as that room goes: so the fewest
// links leave a machine. The switches without hosts are spread in proportion to cores, each
// on the machine with room that the most of its links lead to. The first of equal machines
// is taken, so equal networks are placed alike.
//
// The errors for pins of what is not there wrap [kind.ErrUnknown].
func Place(spec fabric.Spec, machines []Capacity, pins map[string]string) (map[string]string, error) {
	p := newPlacer(spec, machines)
	if err := p.pin(pins); err != nil {
		return nil, err
	}
	p.placeRacks()
	p.placeOthers()
	placed := make(map[string]string, len(p.on))
	for node, i := range p.on {
		placed[node] = machines[i].Name
	}
	return placed, nil
}

// placer is a placement that is being made. Machines are meant by their places.
type placer struct {
	spec     fabric.Spec
	machines []Capacity
	isHost   map[string]bool
	links    map[string][]string // the neighbours of a node
	on       map[string]int      // where a node is
	hosts    []int               // on each machine
	switches []int
}

func newPlacer(spec fabric.Spec, machines []Capacity) *placer {
	p := &placer{
		spec: spec, machines: machines, isHost: make(map[string]bool), links: make(map[string][]string), on: make(map[string]int),
		hosts: make([]int, len(machines)), switches: make([]int, len(machines)),
	}
	for _, h := range spec.Hosts {
		p.isHost[h.Name] = true
	}
	for _, l := range spec.Links {
		p.links[l.A] = append(p.links[l.A], l.B)
		p.links[l.B] = append(p.links[l.B], l.A)
	}
	return p
}

// pin places the nodes that somebody has placed.
func (p *placer) pin(pins map[string]string) error {
	if len(p.machines) == 0 {
		return errors.New("placing a lab: there are no machines")
	}
	names := make([]string, len(p.machines))
	for i, m := range p.machines {
		names[i] = m.Name
		if m.Cores < 1 {
			return fmt.Errorf("placing a lab: machine %s has %d cores: want at least 1", m.Name, m.Cores)
		}
	}
	nodes := slices.Clone(p.spec.Switches)
	for _, h := range p.spec.Hosts {
		nodes = append(nodes, h.Name)
	}
	known := make(map[string]bool, len(nodes))
	for _, name := range nodes {
		known[name] = true
	}
	var errs []error
	for _, node := range slices.Sorted(maps.Keys(pins)) {
		i := slices.Index(names, pins[node])
		switch {
		case !known[node]:
			errs = append(errs, fmt.Errorf("placement: %w", kind.Unknown("node", node, nodes)))
		case i < 0:
			errs = append(errs, fmt.Errorf("placement.%s: %w", node, kind.Unknown("machine", pins[node], names)))
		default:
			p.put(node, i)
		}
	}
	return errors.Join(errs...)
}

func (p *placer) put(node string, machine int) {
	p.on[node] = machine
	if p.isHost[node] {
		p.hosts[machine]++
	} else {
		p.switches[machine]++
	}
}

// placeRacks places the hosts, and the switches that have some.
func (p *placer) placeRacks() {
	room := p.room(len(p.spec.Hosts), p.hosts)
	for _, rack := range p.racks() {
		hosts, there := p.rack(rack)
		if len(hosts) == 0 && !slices.ContainsFunc(there, func(n int) bool { return n > 0 }) {
			continue // it has no hosts
		}
		at, placed := p.on[rack]
		if !placed {
			at = first(len(p.machines), func(i int) int { return there[i] + min(room[i], len(hosts)) })
			p.put(rack, at)
		}
		for _, host := range hosts[:min(room[at], len(hosts))] {
			p.put(host, at)
			room[at]--
		}
	}
	for _, h := range p.spec.Hosts {
		if _, placed := p.on[h.Name]; !placed {
			at := slices.IndexFunc(room, func(n int) bool { return n > 0 })
			p.put(h.Name, at)
			room[at]--
		}
	}
}

// racks are the switches in the order in which they are placed: first those that have a
// place, for their hosts, then the largest, while there is room for them.
func (p *placer) racks() []string {
	size := make(map[string]int, len(p.spec.Switches))
	for _, name := range p.spec.Switches {
		hosts, _ := p.rack(name)
		size[name] = len(hosts)
	}
	racks := slices.Clone(p.spec.Switches)
	slices.SortStableFunc(racks, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.unplaced(a), p.unplaced(b)), cmp.Compare(size[b], size[a]))
	})
	return racks
}

// unplaced is 0 for a node that has a place, else 1.
func (p *placer) unplaced(node string) int {
	if _, placed := p.on[node]; placed {
		return 0
	}
	return 1
}

// rack is the hosts of a switch that have no place yet, and how many are on each machine.
func (p *placer) rack(of string) (hosts []string, there []int) {
	there = make([]int, len(p.machines))
	for _, node := range p.links[of] {
		at, placed := p.on[node]
		switch {
		case !p.isHost[node]:
		case placed:
			there[at]++
		default:
			hosts = append(hosts, node)
		}
	}
	return hosts, there
}

// placeOthers places the switches that have no hosts.
func (p *placer) placeOthers() {
	room := p.room(len(p.spec.Switches), p.switches)
	for _, name := range p.spec.Switches {
		if p.unplaced(name) == 0 {
			continue
		}
		there := make([]int, len(p.machines))
		for _, node := range p.links[name] {
			if at, placed := p.on[node]; placed {
				there[at]++
			}
		}
		at := first(len(p.machines), func(i int) int {
			if room[i] == 0 {
				return -1
			}
			return there[i]
		})
		p.put(name, at)
		room[at]--
	}
}

// room is how many nodes more each machine gets, of n in all, some of which are there: one
// after the other goes to where the fewest are for each core.
func (p *placer) room(n int, there []int) []int {
	count := slices.Clone(there)
	for _, c := range there {
		n -= c
	}
	for range n {
		least := 0
		for i := range count {
			if (count[i]+1)*p.machines[least].Cores < (count[least]+1)*p.machines[i].Cores {
				least = i
			}
		}
		count[least]++
	}
	for i := range count {
		count[i] -= there[i]
	}
	return count
}

// first is the first of n numbers whose value is the largest.
func first(n int, value func(int) int) int {
	best := 0
	for i := range n {
		if value(i) > value(best) {
			best = i
		}
	}
	return best
}
