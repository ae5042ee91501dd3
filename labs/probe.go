package labs

import (
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/trafficgen"
	"aqmlab/units"
)

// Probe measures round-trip times through queues while there is traffic: one
// host sends another small packets, which come back with the same DSCP. A lab
// without a From has no probe.
type Probe struct {
	From, To string // names of hosts
	Services []int  // whose queues the packets take; each has packets of its own
	Every    time.Duration
	Start    time.Duration
	Stop     time.Duration // zero: as long as there is traffic
}

const (
	probeKey         = "probe"
	probeFromPath    = probeKey + ".from"
	probeToPath      = probeKey + ".to"
	probeServicePath = probeKey + ".service"
	probeEveryPath   = probeKey + ".every"
	probeStartPath   = probeKey + ".start"
	probeStopPath    = probeKey + ".stop"
)

// longestProbe bounds the times of a probe.
const longestProbe = 1000 * time.Second

func probeDefaults() Probe { return Probe{Services: []int{0}, Every: time.Millisecond} }

// probeKeys are those of the probe, which is off without them.
func probeKeys(p *Probe) []key {
	const mostServices = trafficgen.MaxDSCP
	on := p.From != ""
	service := func(n *int) codec { return whole(n, 0, mostServices) }
	return []key{
		{probeFromPath, line(&p.From)},
		{probeToPath, line(&p.To)},
		{probeServicePath, written(distinct(&p.Services, list(&p.Services, service)), on)},
		{probeEveryPath, written(span(&p.Every, time.Microsecond, longestProbe), on)},
		{probeStartPath, written(span(&p.Start, 0, longestProbe), on)},
		{probeStopPath, optional(&p.Stop, spanOf(1, longestProbe))},
	}
}

// checkProbe wants two hosts of the layout, a queue for every service, and time
// to send something.
func (r *reader) checkProbe(l *Lab, layout Layout) {
	if !slices.ContainsFunc(probeKeys(&Probe{}), func(k key) bool { return r.get(k.path) != nil }) {
		return
	}
	p := &l.Probe
	r.checkProbeHost(probeFromPath, p.From, layout)
	r.checkProbeHost(probeToPath, p.To, layout)
	if p.From == p.To && r.sound(probeFromPath, probeToPath) {
		r.fail(probeToPath, "%s probes itself: want another host", p.To)
	}
	if r.sound(probeServicePath, piasPath, "switch.scheduler.queues") {
		for i, service := range p.Services {
			if n := l.Tagging().Queues(service + 1); n > l.Switch.Queues {
				r.fail(fmt.Sprintf("%s[%d]", probeServicePath, i), "service %d is in queue %d, from 0: switch.scheduler.queues is %d", service, n-1, l.Switch.Queues)
			}
		}
	}
	if p.Stop > 0 && p.Stop <= p.Start && r.sound(probeStartPath, probeStopPath) {
		r.fail(probeStopPath, "%s is not after %s, %s", units.FormatTime(p.Stop), probeStartPath, units.FormatTime(p.Start))
	}
}

func (r *reader) checkProbeHost(path, name string, layout Layout) {
	hosts := len(layout.Racks)
	switch {
	case !r.sound(path) || hosts == 0: // what is wrong is told already
	case name == "":
		r.fail(path, "missing: want a host such as %s", layout.name(0))
	case layout.host(name) < 0:
		r.fail(path, "no host %q: want one of %s to %s", name, layout.name(0), layout.name(hosts-1))
	}
}

// host is the number of the host of that name, or -1.
func (l *Layout) host(name string) int {
	for i := range l.Racks {
		if l.name(i) == name {
			return i
		}
	}
	return -1
}

// Probes lists what is to be sent for the lab's probe: one a service, named
// after it. Every scheme and runtime gets the same.
func (l *Lab) Probes() ([]trafficgen.Probe, error) {
	if l.Probe.From == "" {
		return nil, nil
	}
	layout, err := l.Topology.layout()
	if err != nil {
		return nil, fmt.Errorf("placing the probe of lab %s: %w", l.Name, err)
	}
	var all []trafficgen.Probe
	for _, service := range l.Probe.Services {
		all = append(all, trafficgen.Probe{
			Name:  fmt.Sprintf("service-%d", service),
			From:  layout.host(l.Probe.From),
			To:    layout.host(l.Probe.To),
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
