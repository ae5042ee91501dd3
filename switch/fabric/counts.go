package fabric

import "aqmlab/switch/port"

// PortCount is what one port has counted. It is plain data.
type PortCount struct {
	Switch, Far string
	Queues      []port.Count
	Ingress     port.IngressCount
	Pauses      PauseCount
}

// Counts are what the ports have counted so far, in their order.
func (n *Network) Counts() []PortCount {
	counts := make([]PortCount, len(n.ports))
	for i, p := range n.ports {
		counts[i] = PortCount{Switch: p.Switch, Far: p.Far, Ingress: p.Ingress.Count(), Pauses: p.Pauses()}
		for q := range p.Queues() {
			counts[i].Queues = append(counts[i].Queues, p.Count(q))
		}
	}
	return counts
}
