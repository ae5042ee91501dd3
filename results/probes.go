package results

import "slices"

// ProbeSummary sums up what one probe measured.
type ProbeSummary struct {
	Probe string `json:"probe"`
	Sent  int    `json:"sent"`
	Lost  int    `json:"lost"`
	RTT   FCT    `json:"rtt_us"` // of those that were answered
}

// SummarizeProbes sums up samples by the names of their probes, in the order in
// which these come first.
func SummarizeProbes(samples []ProbeSample) []ProbeSummary {
	var sums []ProbeSummary
	var rtts [][]float64
	at := make(map[string]int)
	for _, s := range samples {
		i, ok := at[s.Probe]
		if !ok {
			i = len(sums)
			at[s.Probe] = i
			sums, rtts = append(sums, ProbeSummary{Probe: s.Probe}), append(rtts, nil)
		}
		sums[i].Sent++
		if s.Lost {
			sums[i].Lost++
			continue
		}
		rtts[i] = append(rtts[i], micros(s.RTT))
	}
	for i := range sums {
		sums[i].RTT = summarize(rtts[i])
	}
	return sums
}

// probeNames lists the probes that any scheme has at a load.
func (c Comparison) probeNames(load float64) []string {
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
func (t Total) Probe(name string) (ProbeSummary, bool) {
	i := slices.IndexFunc(t.Probes, func(p ProbeSummary) bool { return p.Probe == name })
	if i < 0 {
		return ProbeSummary{}, false
	}
	return t.Probes[i], true
}
