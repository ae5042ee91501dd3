package coexist

import (
	"cmp"
	"fmt"
	"slices"

	"aqmlab/results"
)

// Parties are the groups of flows whose shares are asked for: the services of the lab's
// workload, and each stream of its background.
type Parties struct {
	Names []string
	of    map[member]int
}

// member is what tells the parties of flows apart.
type member struct{ workload, service int32 }

// PartiesOf are the parties that flows of a run are of.
func PartiesOf(m results.Manifest, flows []results.Flow) Parties {
	var members []member
	for _, f := range flows {
		if k := memberOf(f); !slices.Contains(members, k) {
			members = append(members, k)
		}
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(a.service, b.service))
	})
	p := Parties{of: make(map[member]int)}
	for _, k := range members {
		p.of[k] = len(p.Names)
		p.Names = append(p.Names, fmt.Sprintf("service %d", k.service))
	}
	return p
}

func memberOf(f results.Flow) member { return member{0, f.Service} }

// Flow is the index of the party that a flow is of, or -1.
func (p Parties) Flow(f results.Flow) int { return p.index(memberOf(f)) }

// Sample is the index of the party that delivered what the sample says, or -1.
func (p Parties) Sample(s results.ServiceSample) int { return p.index(member{0, s.Service}) }

func (p Parties) index(k member) int {
	if i, ok := p.of[k]; ok {
		return i
	}
	return -1
}
