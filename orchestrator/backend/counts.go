package backend

import (
	"aqmlab/results"
	"aqmlab/switch/fabric"
)

// Counters is what a network and its hosts counted over a point. A port whose
// ingress stage held nothing, or that flow control knows nothing of, has no row of
// it; a link has one if it may lose packets.
func Counters(ports []fabric.PortCount, lost []fabric.LossCount, hosts []results.HostCount) results.Counters {
	all := results.Counters{Hosts: hosts}
	for _, p := range ports {
		for q, c := range p.Queues {
			all.Ports = append(all.Ports, results.PortCount{
				Switch: p.Switch, Port: p.Far, Queue: q,
				Enqueued: c.Enqueued, Sent: c.Sent, Marked: c.Marked, DropsFull: c.DropsFull, DropsScheme: c.DropsScheme,
				SentBytes: c.SentBytes, PeakBytes: int64(c.PeakBytes),
			})
		}
		if c := p.Ingress; c.Held > 0 {
			all.Ingress = append(all.Ingress, results.IngressCount{
				Switch: p.Switch, Port: p.Far, Held: c.Held, Released: c.Released, MarkedECE: c.MarkedECE, PeakPackets: int64(c.PeakPackets),
			})
		}
		if c := p.Pauses; c.PeakBytes > 0 {
			all.Pauses = append(all.Pauses, results.PauseCount{
				Switch: p.Switch, Port: p.Far, Stops: c.Stops, Stopped: c.Stopped, PeakBytes: int64(c.PeakBytes),
			})
		}
	}
	for _, l := range lost {
		all.Links = append(all.Links, results.LinkCount{From: l.From, To: l.To, Lost: l.Packets})
	}
	return all
}
