package labs

// star is the topology of a lab that names none.
const star = "star"

// newStar links all hosts to the switch s1.
func newStar(_ struct{}, env TopologyEnv) (Layout, error) {
	l := Layout{Hops: 2}
	l.addHosts(l.addSwitches("s", 1), env.Hosts)
	return l, nil
}
