package labs

import (
	"fmt"
	"slices"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/switch/sched"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// checkTraffic builds what the workload and the background are made of, and,
// when all of the lab holds together, sees whether flows can be drawn.
func checkTraffic(r *schema.Reader, l *Lab, schedulers []served) {
	byLoad := checkWorkload(r, l, workloadKey, &l.Workload)
	for i := range l.Background {
		b := &l.Background[i]
		path := backgroundKey + "." + b.Name
		if load := path + ".load"; len(b.Load) > 1 && r.Sound(load) {
			r.Fail(load, "%s is a list: want one load, or leave it out for that of the workload", kind.Show(r.Value(load)))
		}
		if checkWorkload(r, l, path, &b.Workload) && len(b.Load) == 0 {
			byLoad = true
		}
	}
	byLoad = byLoad || slices.ContainsFunc(l.Programs, Program.usesLoad)
	if len(l.Workload.Load) > 1 && !byLoad && r.Sound(loadPath) {
		r.Fail(loadPath, "%d loads, but no flows start by the load: want one", len(l.Workload.Load))
	}
	if l.Workload.Connections > 0 && !l.Workload.Handshake {
		r.Fail(handshakePath, "connections that are opened ahead have none in a flow: want %s 0", connectionsPath)
	}
	checkPIAS(r, l, schedulers)
	if r.Err() != nil {
		return
	}
	for _, load := range l.Workload.Load {
		if err := l.Traffic(load, l.Seeds[0]).Check(); err != nil {
			r.Fail(workloadKey, "%w", err)
			return
		}
	}
	checkDatagrams(r, l)
}

// checkDatagrams wants a rate and a time to stop of flows whose transport does not respond
// to the network: nothing else bounds what they send.
func checkDatagrams(r *schema.Reader, l *Lab) {
	datagrams := make(map[int]Speech)
	for i, s := range l.Speaks() {
		if t, err := s.Build(); err == nil && t.Datagrams {
			datagrams[i] = s
		}
	}
	if len(datagrams) == 0 {
		return
	}
	flows, err := trafficgen.Trace(l.Traffic(l.Workload.Load[0], l.Seeds[0]))
	if err != nil {
		r.Fail(workloadKey, "%w", err)
		return
	}
	for _, f := range flows {
		s, is := datagrams[f.Transport]
		if !is || f.Rate > 0 && f.Stop > 0 {
			continue
		}
		path := transportPath
		if f.Transport > 0 {
			path = speechPath(s.Name) + ".transport"
		}
		r.Fail(path, "flows of the %s have no rate, or no time to stop, which %s needs: want arrival static with rate and stop", l.workloads()[f.Workload], s.Transport.Kind)
		return
	}
}

// checkWorkload tells whether flows start by the load, as far as can be told.
func checkWorkload(r *schema.Reader, l *Lab, path string, w *Workload) (byLoad bool) {
	schema.BuildOf(r, path+".sizes", w.Sizes, trafficgen.Sizes(), trafficgen.Env{})
	arrival := schema.BuildOf(r, path+".arrival", w.Arrival, trafficgen.Arrivals(), trafficgen.Env{})
	services := path + ".services"
	if n := len(w.Services); n > l.Switch.Queues && l.queueByDSCP() && r.Sound(services, "switch.scheduler.queues") {
		r.Fail(services, "%d services: want at most one for each queue, switch.scheduler.queues is %d, or %s: map", n, l.Switch.Queues, classifierPath)
	}
	return arrival == nil || arrival.ByLoad()
}

// checkPIAS wants a strict queue for each priority, and one more for each
// service.
func checkPIAS(r *schema.Reader, l *Lab, schedulers []served) {
	priorities := len(l.Workload.PIAS)
	if gap := l.Workload.PIASGap; gap > 0 && r.Sound(piasGapPath, piasPath, connectionsPath) {
		switch {
		case priorities == 0:
			r.Fail(piasGapPath, "there are no priorities: want %s", piasPath)
		case l.Workload.Connections == 0:
			r.Fail(piasGapPath, "each flow has a connection of its own: want %s above 0", connectionsPath)
		}
	}
	if priorities == 0 || !r.Sound(piasPath, "switch.scheduler.queues") {
		return
	}
	if !l.queueByDSCP() {
		r.Fail(piasPath, "each threshold needs a queue of its own: want no %s beside it", classifierPath)
		return
	}
	services := len(l.Workload.Services)
	for _, b := range l.Background {
		services = max(services, len(b.Services))
	}
	if n := l.Tagging().Queues(services); n > l.Switch.Queues {
		r.Fail(piasPath, "thresholds (%d) and services (%d) need %d queues: switch.scheduler.queues is %d", priorities, services, n, l.Switch.Queues)
	}
	for _, s := range schedulers {
		if s.Scheduler != nil && sched.Strict(s.Scheduler) < priorities {
			r.Fail(piasPath, "each threshold needs a strict queue, which makes %d: %s has %d: want sp", priorities, s.path, sched.Strict(s.Scheduler))
			return
		}
	}
}

// checkProbe wants two hosts of the layout, a queue for every service, and time
// to send something.
func checkProbe(r *schema.Reader, l *Lab, layout topologies.Layout) {
	if !r.HasBelow("probe") {
		return
	}
	p := &l.Probe
	checkHostName(r, "probe.from", p.From, layout)
	checkHostName(r, "probe.to", p.To, layout)
	if p.From == p.To && r.Sound("probe.from", "probe.to") {
		r.Fail("probe.to", "%s probes itself: want another host", p.To)
	}
	if r.Sound("probe.service", piasPath, "switch.scheduler.queues") {
		for i, service := range p.Services {
			if n := l.Tagging().Queues(service + 1); n > l.Switch.Queues && l.queueByDSCP() {
				r.Fail(fmt.Sprintf("%s[%d]", "probe.service", i), "service %d is in queue %d, from 0: switch.scheduler.queues is %d", service, n-1, l.Switch.Queues)
			}
		}
	}
	if p.Stop > 0 && p.Stop <= p.Start && r.Sound("probe.start", "probe.stop") {
		r.Fail("probe.stop", "%s is not after %s, %s", units.FormatTime(p.Stop), "probe.start", units.FormatTime(p.Start))
	}
}

func checkHostName(r *schema.Reader, path, name string, layout topologies.Layout) {
	hosts := layout.Names
	switch {
	case !r.Sound(path) || len(hosts) == 0: // what is wrong is told already
	case name == "":
		r.Fail(path, "missing: want a host such as %s", hosts[0])
	case !slices.Contains(hosts, name):
		r.Fail(path, "no host %q: want one of %s to %s", name, hosts[0], hosts[len(hosts)-1])
	}
}

// checkCapture wants a format, and ports that the layout has.
func checkCapture(r *schema.Reader, l *Lab, layout topologies.Layout) {
	if l.Capture.Format == "" && r.HasBelow("capture") && r.Sound("capture.format") {
		r.Fail("capture.format", "missing: want %s", PCAPNG)
	}
	if len(layout.Racks) == 0 || !r.Sound("capture.ports") {
		return
	}
	known := layout.Ports(l.Host.Port == HostSwitchPort)
	for i, p := range l.Capture.Ports {
		if !slices.Contains(known, p) {
			r.Fail(fmt.Sprintf("%s[%d]", "capture.ports", i), "%w", unknownPort(p, known))
		}
	}
}

// unknownPort lists few of what may be hundreds of ports.
func unknownPort(name string, known []string) error {
	const most = 8
	if len(known) <= most {
		return kind.Unknown("port", name, known)
	}
	return fmt.Errorf("no port %q: want a node and its neighbour, such as %s", name, known[0])
}
