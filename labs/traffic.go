package labs

import (
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
	"aqmlab/trafficgen/traffic"
)

// Tagging says which DSCP the bytes of a flow have, which is that of their
// queue.
func (l *Lab) Tagging() traffic.Tagging {
	return traffic.Tagging{Thresholds: slices.Clone(l.Workload.PIAS), Gap: l.Workload.PIASGap, Own: l.ownDSCPs()}
}

// Traffic is the flows to draw at one load and seed. Every scheme and runtime
// gets the same.
func (l *Lab) Traffic(load float64, seed uint64) trafficgen.Spec {
	share := 1.0 // of what load counts, that is payload
	if l.Workload.LoadOf == Wire {
		share = float64(l.Host.MTU-packet.TCPHeaders) / float64(l.Host.MTU+packet.FrameOverhead)
	}
	spec := l.Workload.spec(load * share)
	spec.Hosts, spec.Racks, spec.Rate, spec.Seed = l.Topology.Hosts, l.Topology.Racks(), l.Topology.Rate, seed
	spec.Jitter, spec.Transports = l.Workload.Jitter, l.speakers()
	for _, b := range l.Background {
		own := 0.0 // that of the point
		if len(b.Load) > 0 {
			own = b.Load[0] * share
		}
		spec.Background = append(spec.Background, b.spec(own))
	}
	return spec
}

// spec is what a workload says of its own.
func (w Workload) spec(load float64) trafficgen.Spec {
	spec := trafficgen.Spec{
		Load:      load,
		Flows:     w.Flows,
		Sizes:     clone(w.Sizes),
		Arrival:   clone(w.Arrival),
		Pattern:   w.Pattern,
		Host:      w.Host - 1,
		Services:  slices.Clone(w.Services),
		ServiceBy: w.ServiceBy,
		SharesOf:  w.SharesOf,
		Push:      w.Transfer == Push,
	}
	for _, name := range w.ServiceSizes {
		spec.ServiceSizes = append(spec.ServiceSizes, kind.Choice{Kind: name})
	}
	return spec
}

// Probes lists what is to be sent for the lab's probe: one a service, named
// after it. Every scheme and runtime gets the same.
func (l *Lab) Probes() ([]traffic.Probe, error) {
	if l.Probe.From == "" {
		return nil, nil
	}
	layout, err := l.Topology.layout()
	if err != nil {
		return nil, fmt.Errorf("placing the probe of lab %s: %w", l.Name, err)
	}
	var all []traffic.Probe
	for _, service := range l.Probe.Services {
		all = append(all, traffic.Probe{
			Name:  fmt.Sprintf("service-%d", service),
			From:  slices.Index(layout.Names, l.Probe.From),
			To:    slices.Index(layout.Names, l.Probe.To),
			DSCP:  l.Tagging().DSCP(service, math.MaxInt64), // behind all thresholds of PIAS
			Start: l.Probe.Start,
			Every: l.Probe.Every,
			Stop:  l.Probe.Stop,
		})
	}
	return all, nil
}

// ProbePatience is the lab time in which answers come that are under way when
// the traffic ends: two of the longest round trips, and time for the queues of
// any lab to run empty.
func (l *Lab) ProbePatience() time.Duration {
	return 2*max(l.RTT.Min, l.RTT.Max) + 100*time.Millisecond
}
