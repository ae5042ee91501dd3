package compare

import (
	"aqmlab/results"
	"slices"
)

// ProbeNames lists the probes that any scheme has at a load.
func (c Comparison) ProbeNames(load float64) []string {
	var names []string
	for _, t := range c.Totals {
		for _, p := range t.Probes {
			if t.Load == load && !slices.Contains(names, p.Probe) {
				names = append(names, p.Probe)
			}
		}
	}
	return names
}

// Probe finds what a probe measured, over all seeds.
func (t Total) Probe(name string) (results.ProbeSummary, bool) {
	i := slices.IndexFunc(t.Probes, func(p results.ProbeSummary) bool { return p.Probe == name })
	if i < 0 {
		return results.ProbeSummary{}, false
	}
	return t.Probes[i], true
}
