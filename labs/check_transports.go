package labs

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
	"aqmlab/trafficgen/transport"
)

// checkTransports wants of each entry a transport, and flows that may fit it.
func checkTransports(r *schema.Reader, l *Lab, layout topologies.Layout) {
	if n := len(l.Transports); n > maxTransports {
		r.Fail(transportsKey, "%d are too many: want at most %d", n, maxTransports)
	}
	if slices.ContainsFunc(l.Background, func(b Background) bool { return b.Name == theWorkload }) && len(l.Transports) > 0 {
		r.Fail(backgroundKey+"."+theWorkload, "the name stands for the workload itself (%s): want another", transportsKey)
	}
	for i, s := range l.Transports {
		path := speechPath(s.Name)
		if j := slices.IndexFunc(l.Transports[:i], func(o Speech) bool { return o.covers(s) }); j >= 0 && r.Sound(path, speechPath(l.Transports[j].Name)) {
			r.Fail(path, "%s, which comes first, fits every flow that this one fits: want this one before it, or out", l.Transports[j].Name)
		}
		if choice := r.Choice(path + ".transport"); s.Transport.Kind == "" {
			if r.Sound(choice.KindPath()) {
				r.Fail(path+".transport", "missing: want one of %s", strings.Join(transport.Table().Names(), ", "))
			}
		} else {
			r.RefuseUnused(choice, s.Transport)
			checkRecovery(r, l, schema.BuildOf(r, path+".transport", s.Transport, transport.Table(), struct{}{}))
		}
		if len(s.Services)+len(s.Hosts)+len(s.Background) == 0 && r.Sound(path+".services", path+".hosts", path+".background") {
			r.Fail(path, "fits every flow: want services, hosts or background, or host.transport in its place")
		}
		for i, name := range s.Hosts {
			checkHostName(r, fmt.Sprintf("%s.hosts[%d]", path, i), name, layout)
		}
		checkSpeakers(r, l, s)
	}
	checkOneFormat(r, l)
}

// covers tells whether all flows that fit another entry fit this one.
func (s Speech) covers(o Speech) bool {
	return within(o.Services, s.Services) && within(o.Hosts, s.Hosts) && within(o.Background, s.Background)
}

// within tells whether all of some are among others, where none means any.
func within[T comparable](some, others []T) bool {
	if len(others) == 0 || len(some) == 0 {
		return len(others) == 0
	}
	return !slices.ContainsFunc(some, func(x T) bool { return !slices.Contains(others, x) })
}

// checkSpeakers wants the workloads that an entry names, and of each service that one of
// them has it.
func checkSpeakers(r *schema.Reader, l *Lab, s Speech) {
	path, known := speechPath(s.Name), l.workloads()
	most := 0
	for i, name := range known {
		w := l.Workload
		if i > 0 {
			w = l.Background[i-1].Workload
		}
		if len(s.Background) == 0 || slices.Contains(s.Background, name) {
			most = max(most, len(w.Services))
		}
	}
	for i, name := range s.Background {
		if !slices.Contains(known, name) {
			r.Fail(fmt.Sprintf("%s.background[%d]", path, i), "%w", kind.Unknown("workload", name, known))
			return
		}
	}
	if !r.Sound(workloadKey + ".services") {
		return
	}
	for i, service := range s.Services {
		if service >= most {
			r.Fail(fmt.Sprintf("%s.services[%d]", path, i), "no flow is of service %d: want 0 to %d, or more services (%s.services)", service, most-1, workloadKey)
		}
	}
}

// checkOneFormat refuses captures of RDMA beside TCP: nothing in a modelled packet says
// which of the two it is.
func checkOneFormat(r *schema.Reader, l *Lab) {
	if l.Capture.Format == "" {
		return
	}
	var rdma, tcp, udp string
	for _, s := range l.Speaks() {
		switch t, err := s.Build(); {
		case err != nil:
		case t.Datagrams:
			udp = s.Transport.Kind
		case t.RDMA:
			rdma = s.Transport.Kind
		default:
			tcp = s.Transport.Kind
		}
	}
	if udp != "" {
		r.Fail("capture.format", "a capture has no datagrams of modelled hosts, and some speak %s: want none", udp)
	}
	if rdma != "" && tcp != "" {
		r.Fail("capture.format", "a capture holds packets of one sort, not of %s beside %s: want none", rdma, tcp)
	}
}
