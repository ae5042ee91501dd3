package metric

import (
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// rtt is the metric of a statistic of the RTTs of the claim's probe: in its window,
// or without one in all.
func rtt(statistic func(results.FCT) float64) compute {
	return func(s Subject) (float64, error) {
		r, err := s.rtt(s.Windows)
		return statistic(r), err
	}
}

func rttAboveBase(s Subject) (float64, error) {
	r, err := s.rtt(s.Windows)
	return r.Mean - float64(s.Lab.RTT.Min.Nanoseconds())/1000, err
}

func rttGrowth(s Subject) (float64, error) {
	return s.windowGrowth(func(w papers.Window) (float64, error) {
		r, err := s.rtt([]papers.Window{w})
		return r.Mean, err
	})
}

// rtt sums up what the claim's probe measured in the first window, or without
// windows at any time.
func (s Subject) rtt(windows []papers.Window) (results.FCT, error) {
	var mine []results.ProbeSample
	for _, p := range s.Point.Probes {
		if p.Probe == s.Probe && (len(windows) == 0 || windows[0].Begins(p.At)) {
			mine = append(mine, p)
		}
	}
	for _, p := range results.SummarizeProbes(mine) {
		if p.RTT.Count > 0 {
			return p.RTT, nil
		}
	}
	return results.FCT{}, nothing("no answer to probe %s", s.Probe)
}
