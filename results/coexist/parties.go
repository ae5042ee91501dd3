package coexist

import (
	"cmp"
	"fmt"
	"slices"

	"aqmlab/results"
)

// Parties are the groups of flows whose shares are asked for. Where the lab has transports,
// they are the transports that flows speak. Otherwise they are the services of the lab's
// workload, and each stream of its background.
type Parties struct {
	Names  []string
	of     map[member]int
	speech bool // by transport
	stream bool // by workload, too
}

// member is what tells the parties of flows apart. What does not is zero.
type member struct{ workload, transport, service int32 }

// PartiesOf are the parties that flows of a run are of. Goodput of versions that did not
// tell streams of the background apart, nor name them, is that of services.
func PartiesOf(m results.Manifest, flows []results.Flow) Parties {
	p := Parties{of: make(map[member]int), speech: len(m.Transports) > 0, stream: len(m.Background) > 0}
	var members []member
	for _, f := range flows {
		k := p.member(f.Workload, f.Transport, f.Service)
		if _, known := p.of[k]; !known {
			p.of[k] = 0 // until all are known
			members = append(members, k)
		}
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.transport, b.transport), cmp.Compare(a.service, b.service))
	})
	services := 0 // of the workload
	for _, k := range members {
		if k.workload == 0 {
			services++
		}
	}
	for i, k := range members {
		p.of[k] = i
		p.Names = append(p.Names, p.name(m, k, services))
	}
	return p
}

// member is who a flow counts for.
func (p Parties) member(workload, transport, service int32) member {
	switch {
	case p.speech:
		return member{transport: transport}
	case p.stream && workload > 0:
		return member{workload: workload}
	}
	return member{service: service}
}

func (p Parties) name(m results.Manifest, k member, services int) string {
	switch i := int(max(k.transport, k.workload)) - 1; {
	case p.speech && i >= 0 && i < len(m.Transports):
		return m.Transports[i].Name
	case p.speech && slices.ContainsFunc(m.Transports, func(s results.Spoken) bool { return s.Name == m.Transport.Name }):
		return m.Transport.Name + " of hosts"
	case p.speech:
		return m.Transport.Name
	case k.workload > 0 && i < len(m.Background):
		return m.Background[i]
	case p.stream && services == 1:
		return "workload"
	}
	return fmt.Sprintf("service %d", k.service)
}

// Flow is the index of the party that a flow is of, or -1.
func (p Parties) Flow(f results.Flow) int { return p.index(f.Workload, f.Transport, f.Service) }

// Sample is the index of the party that delivered what the sample says, or -1.
func (p Parties) Sample(s results.ServiceSample) int {
	return p.index(s.Workload, s.Transport, s.Service)
}

func (p Parties) index(workload, transport, service int32) int {
	if i, ok := p.of[p.member(workload, transport, service)]; ok {
		return i
	}
	return -1
}
