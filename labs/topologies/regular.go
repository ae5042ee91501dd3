package topologies

import (
	"cmp"

	"aqmlab/kind"
	"aqmlab/units"
)

// Star is the topology of a lab that names none.
const Star = "star"

// newStar links all hosts to the switch s1.
func newStar(_ struct{}, env Env) (Layout, error) {
	l := Layout{Hops: 2}
	l.addHosts(l.addSwitches("s", 1), env.Hosts)
	return l, nil
}

// leafSpine is two layers of switches: hosts below the leaves l1, l2 ..., and
// the spines p1, p2 ... above. Flows between leaves spread over all spines.
type leafSpine struct {
	Leaves       int        `lab:"leaves" range:"2..1000" doc:"leaf switches l1, l2, ..."`
	Spines       int        `lab:"spines" range:"1..1000" doc:"spine switches p1, p2, ..., each linked to every leaf"`
	HostsPerLeaf int        `lab:"hosts_per_leaf" range:"1..65534" doc:"hosts of each leaf"`
	CoreRate     units.Rate `lab:"core_rate" range:"1Kbps..100000Gbps" doc:"of the links between leaves and spines; topology.rate when absent"`
}

func newLeafSpine(p leafSpine, env Env) (Layout, error) {
	if err := roomFor("hosts_per_leaf", p.Leaves, p.HostsPerLeaf); err != nil {
		return Layout{}, err
	}
	var l Layout
	l.addTiers(l.addSwitches("l", p.Leaves), l.addSwitches("p", p.Spines), p.HostsPerLeaf, cmp.Or(p.CoreRate, env.Rate))
	return l, nil
}

// addTiers links each of the racks from first to all switches from core on, and
// hosts to each rack.
func (l *Layout) addTiers(first, core, hosts int, rate units.Rate) {
	l.Hops = 4
	for rack := first; rack < core; rack++ {
		l.addHosts(rack, hosts)
		for at := core; at < len(l.Switches); at++ {
			l.addTrunk(rack, at, rate)
		}
	}
}

// tree is racks of hosts below the top-of-rack switches t1, t2 ..., and the core
// switch c1 above all of these.
type tree struct {
	Racks        int        `lab:"racks" range:"2..1000" doc:"top-of-rack switches t1, t2, ..., each linked to the core switch c1"`
	HostsPerRack int        `lab:"hosts_per_rack" range:"1..65534" doc:"hosts of each rack"`
	CoreRate     units.Rate `lab:"core_rate" range:"1Kbps..100000Gbps" doc:"of the links between racks and core; topology.rate when absent"`
}

func newTree(p tree, env Env) (Layout, error) {
	if err := roomFor("hosts_per_rack", p.Racks, p.HostsPerRack); err != nil {
		return Layout{}, err
	}
	var l Layout
	l.addTiers(l.addSwitches("t", p.Racks), l.addSwitches("c", 1), p.HostsPerRack, cmp.Or(p.CoreRate, env.Rate))
	return l, nil
}

// fatTree is k pods, each of k/2 top-of-rack and k/2 aggregation switches that
// are all linked to each other, below (k/2)^2 core switches (Al-Fares, Loukissas
// and Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM
// 2008). Every switch has k ports and every link the same rate; a rack has k/2
// hosts. Top-of-rack switches are t1, t2 ..., aggregation switches a1, a2 ...,
// both pod by pod, and core switches c1, c2 ... The largest k is that whose hosts
// have addresses.
type fatTree struct {
	K int `lab:"k" range:"2..62" doc:"ports of each switch, even: k pods of k/2 switches t1, t2, ... with k/2 hosts each, and k/2 switches a1, a2, ...; (k/2)^2 core switches c1, c2, ...; k^3/4 hosts"`
}

func newFatTree(p fatTree, env Env) (Layout, error) {
	if p.K%2 != 0 {
		return Layout{}, kind.Invalid("k", "%d is odd: want an even number", p.K)
	}
	half := p.K / 2
	l := Layout{Hops: 6}
	racks, aggregations := l.addSwitches("t", p.K*half), l.addSwitches("a", p.K*half)
	cores := l.addSwitches("c", half*half)
	for rack := range p.K * half {
		l.addHosts(racks+rack, half)
		pod := rack / half
		for i := range half {
			l.addTrunk(racks+rack, aggregations+pod*half+i, env.Rate)
		}
	}
	// The i-th aggregation switch of each pod is linked to the i-th row of cores.
	for aggregation := range p.K * half {
		row := aggregation % half * half
		for i := range half {
			l.addTrunk(aggregations+aggregation, cores+row+i, env.Rate)
		}
	}
	return l, nil
}

// roomFor is the error for more hosts than there are addresses; param says how
// many there are in each rack.
func roomFor(param string, racks, each int) error {
	if racks*each > maxHosts {
		return kind.Invalid(param, "%d racks of %d hosts: want at most %d hosts", racks, each, maxHosts)
	}
	return nil
}
