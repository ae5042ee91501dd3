package labs

import (
	"cmp"

	"aqmlab/units"
)

// tree is racks of hosts below the top-of-rack switches t1, t2 ..., and the core
// switch c1 above all of these.
type tree struct {
	Racks        int        `lab:"racks" doc:"top-of-rack switches, 2 to 1000"`
	HostsPerRack int        `lab:"hosts_per_rack" doc:"hosts of each rack"`
	CoreRate     units.Rate `lab:"core_rate" doc:"of the links between racks and core; topology.rate when absent"`
}

func newTree(p tree, env TopologyEnv) (Layout, error) {
	rate, err := coreRate(p.CoreRate, env)
	if err = cmp.Or(
		within("racks", p.Racks, 2, maxSwitches),
		within("hosts_per_rack", p.HostsPerRack, 1, maxHosts),
		roomFor("hosts_per_rack", p.Racks, p.HostsPerRack),
		err,
	); err != nil {
		return Layout{}, err
	}
	l := Layout{Hops: 4}
	racks, core := l.addSwitches("t", p.Racks), l.addSwitches("c", 1)
	for rack := range p.Racks {
		l.addHosts(racks+rack, p.HostsPerRack)
		l.addTrunk(racks+rack, core, rate)
	}
	return l, nil
}
