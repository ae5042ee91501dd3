package testbed

import (
	"fmt"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/results"
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
