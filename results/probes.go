package results

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
		rtts[i] = append(rtts[i], Microseconds(s.RTT))
	}
	for i := range sums {
		sums[i].RTT = SummarizeTimes(rtts[i])
	}
	return sums
}
