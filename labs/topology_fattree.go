package labs

import "aqmlab/kind"

// fatTree is k pods, each of k/2 top-of-rack and k/2 aggregation switches that
// are all linked to each other, below (k/2)^2 core switches (Al-Fares, Loukissas
// and Vahdat, "A Scalable, Commodity Data Center Network Architecture", SIGCOMM
// 2008). Every switch has k ports and every link the same rate; a rack has k/2
// hosts. Top-of-rack switches are t1, t2 ..., aggregation switches a1, a2 ...,
// both pod by pod, and core switches c1, c2 ...
type fatTree struct {
	K int `lab:"k" doc:"ports of each switch: even, 2 to 62; k^3/4 hosts"`
}

// maxK is the largest k whose hosts have addresses.
const maxK = 62

func newFatTree(p fatTree, env TopologyEnv) (Layout, error) {
	if err := within("k", p.K, 2, maxK); err != nil {
		return Layout{}, err
	}
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
