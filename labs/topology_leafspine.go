package labs

import (
	"cmp"

	"aqmlab/units"
)

// leafSpine is two layers of switches: hosts below the leaves l1, l2 ..., and
// the spines p1, p2 ... above. Flows between leaves spread over all spines.
type leafSpine struct {
	Leaves       int        `lab:"leaves" doc:"leaf switches, 2 to 1000"`
	Spines       int        `lab:"spines" doc:"spine switches, 1 to 1000"`
	HostsPerLeaf int        `lab:"hosts_per_leaf" doc:"hosts of each leaf"`
	CoreRate     units.Rate `lab:"core_rate" doc:"of the links between leaves and spines; topology.rate when absent"`
}

func newLeafSpine(p leafSpine, env TopologyEnv) (Layout, error) {
	rate, err := coreRate(p.CoreRate, env)
	if err = cmp.Or(
		within("leaves", p.Leaves, 2, maxSwitches),
		within("spines", p.Spines, 1, maxSwitches),
		within("hosts_per_leaf", p.HostsPerLeaf, 1, maxHosts),
		roomFor("hosts_per_leaf", p.Leaves, p.HostsPerLeaf),
		err,
	); err != nil {
		return Layout{}, err
	}
	l := Layout{Hops: 4}
	leaves, spines := l.addSwitches("l", p.Leaves), l.addSwitches("p", p.Spines)
	for leaf := range p.Leaves {
		l.addHosts(leaves+leaf, p.HostsPerLeaf)
		for spine := range p.Spines {
			l.addTrunk(leaves+leaf, spines+spine, rate)
		}
	}
	return l, nil
}
