package coexist

import (
	"slices"
	"testing"

	"aqmlab/results"
)

// TestParties: transports where the lab has some, or else services and streams of the
// background by their names, and of runs that do not name these, services.
func TestParties(t *testing.T) {
	spoken := []results.Spoken{{Name: "bulk"}, {Name: "old"}}
	of := func(workload, transport, service int32) results.Flow {
		return results.Flow{Workload: workload, Transport: transport, Service: service}
	}
	flows := []results.Flow{of(1, 2, 0), of(0, 0, 1), of(0, 0, 0), of(2, 1, 1), of(0, 0, 1)}
	for name, c := range map[string]struct {
		manifest results.Manifest
		flows    []results.Flow
		names    []string
		index    []int
	}{
		"transports":    {results.Manifest{Transport: results.Transport{Name: "dctcp"}, Transports: spoken}, flows, []string{"dctcp", "bulk", "old"}, []int{2, 0, 0, 1, 0}},
		"one name":      {results.Manifest{Transport: results.Transport{Name: "old"}, Transports: spoken}, flows[:3], []string{"old of hosts", "old"}, []int{1, 0, 0}},
		"streams":       {results.Manifest{Background: []string{"incast", "bulk"}}, flows, []string{"service 0", "service 1", "incast", "bulk"}, []int{2, 1, 0, 3, 1}},
		"a workload":    {results.Manifest{Background: []string{"incast", "bulk"}}, []results.Flow{of(0, 0, 3), of(1, 0, 3)}, []string{"workload", "incast"}, []int{0, 1}},
		"an older run":  {results.Manifest{}, flows, []string{"service 0", "service 1"}, []int{0, 1, 0, 1, 1}},
		"nobody at all": {results.Manifest{Transports: spoken}, nil, nil, nil},
	} {
		p := PartiesOf(c.manifest, c.flows)
		var index []int
		for _, f := range c.flows {
			index = append(index, p.Flow(f))
			if i := p.Sample(results.ServiceSample{Workload: f.Workload, Transport: f.Transport, Service: f.Service}); i != p.Flow(f) {
				t.Errorf("%s: a sample is of %d, its flow of %d", name, i, p.Flow(f))
			}
		}
		if !slices.Equal(p.Names, c.names) || !slices.Equal(index, c.index) {
			t.Errorf("%s: %q, %v, want %q, %v", name, p.Names, index, c.names, c.index)
		}
	}
	if i := PartiesOf(results.Manifest{}, flows).Flow(of(0, 0, 9)); i != -1 {
		t.Errorf("a flow of nobody is of %d", i)
	}
}
