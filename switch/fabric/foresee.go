package fabric

import "time"

// Foresee has the ports of switches tell, when a packet arrives, when it will leave, as far
// as that is certain then. The results stay the same, with fewer events. It is for a
// network on which nothing has been sent, all of whose collectors are attached, and whose
// spec and timeline will not be changed.
func (n *Network) Foresee() {
	for i, p := range n.ports {
		tx := n.makings[i].tx
		if p.in == nil || tx.plans.On() || tx.ingress != nil || tx.left != nil || tx.wire.impair != nil {
			continue
		}
		if tx.plans = p.Foresee(); tx.plans.On() {
			n.foreseen = append(n.foreseen, &tx.plans)
		}
	}
}

// Settle has the ports tell what there is before anything happens at a lab time, which
// all that is before has. It is needed after [Network.Foresee] alone.
func (n *Network) Settle(now time.Duration) {
	for _, f := range n.foreseen {
		f.Settle(now)
	}
}
