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
	return p.layOut("l", "p", "hosts_per_leaf", env)
}

// layOut names the switches of both layers. The key says how many hosts each leaf
// has.
func (p leafSpine) layOut(leaf, spine, hostsKey string, env Env) (Layout, error) {
	if p.Leaves*p.HostsPerLeaf > maxHosts {
		return Layout{}, kind.Invalid(hostsKey, "%d racks of %d hosts: want at most %d hosts", p.Leaves, p.HostsPerLeaf, maxHosts)
	}
	l := Layout{Hops: 4}
	racks, core := l.addSwitches(leaf, p.Leaves), l.addSwitches(spine, p.Spines)
	for rack := racks; rack < core; rack++ {
		l.addHosts(rack, p.HostsPerLeaf)
		for at := core; at < len(l.Switches); at++ {
			l.addTrunk(rack, at, cmp.Or(p.CoreRate, env.Rate))
		}
	}
	return l, nil
}

// tree is racks of hosts below the top-of-rack switches t1, t2 ..., and the core
// switch c1 above all of these.
type tree struct {
	Racks        int        `lab:"racks" range:"2..1000" doc:"top-of-rack switches t1, t2, ..., each linked to the core switch c1"`
	HostsPerRack int        `lab:"hosts_per_rack" range:"1..65534" doc:"hosts of each rack"`
	CoreRate     units.Rate `lab:"core_rate" range:"1Kbps..100000Gbps" doc:"of the links between racks and core; topology.rate when absent"`
}

func newTree(p tree, env Env) (Layout, error) {
	return leafSpine{p.Racks, 1, p.HostsPerRack, p.CoreRate}.layOut("t", "c", "hosts_per_rack", env)
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
