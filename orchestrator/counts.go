package orchestrator

import (
	"fmt"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
	"aqmlab/switch/fabric"
)

// counters reads the kernel's counters of every host.
func (t *Testbed) counters() ([]host.Counters, error) {
	all := make([]host.Counters, len(t.net.Hosts))
	for i, h := range t.net.Hosts {
		var err error
		if all[i], err = netns.Counters(h.Namespace); err != nil {
			return nil, fmt.Errorf("reading the counters of %s: %w", h.Name, err)
		}
	}
	return all, nil
}

// sum adds up over all hosts what was counted meanwhile.
func sum(before, after []host.Counters) host.Counters {
	var all host.Counters
	for i := range after {
		all = all.Add(after[i].Sub(before[i]))
	}
	return all
}

func (t *Testbed) hostCounts(before, after []host.Counters) []results.HostCount {
	counts := make([]results.HostCount, len(after))
	for i := range after {
		h := t.net.Hosts[i]
		d := after[i].Sub(before[i])
		counts[i] = results.HostCount{
			Host:        h.Name,
			Timeouts:    d.Timeouts,
			Retransmits: d.Retransmits,
			CEReceived:  d.CEPackets,
			ECEReceived: d.DeliveredCE,
		}
	}
	return counts
}

// ingressCounts lists the ingress stages that had something to hold.
func ingressCounts(ports []fabric.PortCount) []results.IngressCount {
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
func pauseCounts(ports []fabric.PortCount) []results.PauseCount {
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
func linkCounts(lost []fabric.LossCount) []results.LinkCount {
	var counts []results.LinkCount
	for _, l := range lost {
		counts = append(counts, results.LinkCount{From: l.From, To: l.To, Lost: l.Packets})
	}
	return counts
}

func portCounts(ports []fabric.PortCount) []results.PortCount {
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
