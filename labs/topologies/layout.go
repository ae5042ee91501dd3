package topologies

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"aqmlab/labs/clab"
	"aqmlab/units"
)

// Env is what a topology is laid out for.
type Env struct {
	Hosts int        // of a star; the other topologies derive it
	Rate  units.Rate // of the links of hosts
	Read  *File      // that was parsed already, or nil
}

// File is a containerlab file and what is in it.
type File struct {
	Data     []byte
	Topology *clab.Topology
}

// parse parses a file, unless that was done: one of tens of thousands of hosts takes
// seconds.
func (e Env) parse(name string, data []byte) (*clab.Topology, error) {
	if e.Read != nil && bytes.Equal(e.Read.Data, data) {
		return e.Read.Topology, nil
	}
	return clab.Parse(name, data)
}

// Layout is how the hosts and switches of a topology are linked. Switches are
// meant by their places in Switches.
type Layout struct {
	Switches []string
	Names    []string      // of the hosts
	Racks    []int         // the switch of each host
	Access   []clab.Traits // what the link of each host says of itself
	Trunks   []Trunk       // links between switches
	Hops     int           // links on the longest path between two hosts

	// What follows is of topologies that a file describes.

	Interfaces [][2]string // names at the ends of links, host before switch: those of hosts, then trunks
	Digest     string      // SHA-256 of the file
}

// Trunk is a link between two switches.
type Trunk struct {
	A, B int
	clab.Traits
}

// maxHosts is how many addresses 10.77.0.0/16 has, without its first and last.
const maxHosts = 1<<16 - 2

// addSwitches adds n switches, named by prefix and number, and returns the place
// of the first.
func (l *Layout) addSwitches(prefix string, n int) (first int) {
	first = len(l.Switches)
	for i := range n {
		l.Switches = append(l.Switches, fmt.Sprintf("%s%d", prefix, i+1))
	}
	return first
}

// addHosts links n hosts to a switch. All are h1, h2 ... in their order.
func (l *Layout) addHosts(rack, n int) {
	for range n {
		l.Names = append(l.Names, fmt.Sprintf("h%d", len(l.Names)+1))
		l.Racks, l.Access = append(l.Racks, rack), append(l.Access, clab.Traits{})
	}
}

func (l *Layout) addTrunk(a, b int, rate units.Rate) {
	l.Trunks = append(l.Trunks, Trunk{a, b, clab.Traits{Rate: rate}})
}

// Ports are the names of all ports of switches, such as "s1:h1", and of hosts if
// these have any.
func (l *Layout) Ports(ofHosts bool) []string {
	var names []string
	add := func(a, b string, backwards bool) {
		names = append(names, a+":"+b)
		if backwards {
			names = append(names, b+":"+a)
		}
	}
	for i, rack := range l.Racks {
		add(l.Switches[rack], l.Names[i], ofHosts)
	}
	for _, t := range l.Trunks {
		add(l.Switches[t.A], l.Switches[t.B], true)
	}
	return names
}

// OwnDelays counts the links that say their delay.
func (l *Layout) OwnDelays() (some, all int) {
	links := l.links()
	for _, t := range links {
		if t.Delay != nil {
			some++
		}
	}
	return some, len(links)
}

// SlowestRate is the lowest rate that a link says is its own, and zero if some
// link says none.
func (l *Layout) SlowestRate() units.Rate {
	return slices.MinFunc(l.links(), func(a, b clab.Traits) int { return cmp.Compare(a.Rate, b.Rate) }).Rate
}

// Rates are those that links say are their own, each once.
func (l *Layout) Rates() (all []units.Rate) {
	for _, t := range l.links() {
		if t.Rate > 0 && !slices.Contains(all, t.Rate) {
			all = append(all, t.Rate)
		}
	}
	return all
}

// links is what links say of themselves: those of hosts, and then trunks.
func (l *Layout) links() []clab.Traits {
	all := slices.Clone(l.Access)
	for _, t := range l.Trunks {
		all = append(all, t.Traits)
	}
	return all
}
