package backend

import (
	"aqmlab/results"
	"aqmlab/switch/fabric"
)

// ingressCounts lists the ingress stages that had something to hold.
func IngressCounts(ports []fabric.PortCount) []results.IngressCount {
	var counts []results.IngressCount
	for _, p := range ports {
		if c := p.Ingress; c.Held > 0 {
			counts = append(counts, results.IngressCount{
				Switch:      p.Switch,
				Port:        p.Far,
				Held:        c.Held,
				Released:    c.Released,
				MarkedECE:   c.MarkedECE,
				PeakPackets: int64(c.PeakPackets),
			})
		}
	}
	return counts
}

// pauseCounts lists what flow control did to the ports' far ends, where it is on
// and something came from them.
func PauseCounts(ports []fabric.PortCount) []results.PauseCount {
	var counts []results.PauseCount
	for _, p := range ports {
		if c := p.Pauses; c.PeakBytes > 0 {
			counts = append(counts, results.PauseCount{
				Switch: p.Switch, Port: p.Far, Stops: c.Stops, Stopped: c.Stopped, PeakBytes: int64(c.PeakBytes),
			})
		}
	}
	return counts
}

// linkCounts lists the links that may lose packets.
func LinkCounts(lost []fabric.LossCount) []results.LinkCount {
	var counts []results.LinkCount
	for _, l := range lost {
		counts = append(counts, results.LinkCount{From: l.From, To: l.To, Lost: l.Packets})
	}
	return counts
}

func PortCounts(ports []fabric.PortCount) []results.PortCount {
	var counts []results.PortCount
	for _, p := range ports {
		for q, c := range p.Queues {
			counts = append(counts, results.PortCount{
				Switch:      p.Switch,
				Port:        p.Far,
				Queue:       q,
				Enqueued:    c.Enqueued,
				Sent:        c.Sent,
				Marked:      c.Marked,
				DropsFull:   c.DropsFull,
				DropsScheme: c.DropsScheme,
				SentBytes:   c.SentBytes,
				PeakBytes:   int64(c.PeakBytes),
			})
		}
	}
	return counts
}
