package machines

import "aqmlab/switch/fabric"

// Share is what of a network is on a machine.
type Share struct {
	Machine  string
	Switches []string // in the order of the network
	Hosts    []string
	Leaving  int // links to nodes on other machines
}

// Shares are those of a placement, in the order of the machines.
func Shares(spec fabric.Spec, machines []Capacity, placed map[string]string) []Share {
	all := make([]Share, len(machines))
	by := make(map[string]*Share, len(machines))
	for i, m := range machines {
		all[i].Machine = m.Name
		by[m.Name] = &all[i]
	}
	for _, name := range spec.Switches {
		s := by[placed[name]]
		s.Switches = append(s.Switches, name)
	}
	for _, h := range spec.Hosts {
		s := by[placed[h.Name]]
		s.Hosts = append(s.Hosts, h.Name)
	}
	for _, l := range spec.Links {
		if a, b := by[placed[l.A]], by[placed[l.B]]; a != b {
			a.Leaving++
			b.Leaving++
		}
	}
	return all
}
