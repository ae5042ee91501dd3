package metric

import (
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// fct sums up the completion times of the claim's class.
func (s Subject) fct() (results.FCT, error) {
	f := results.Summarize(s.Point.Flows, results.Class(s.Class))
	if f.Count == 0 {
		return f, nothing("no flow of class %s completed", s.Class)
	}
	return f, nil
}

func meanTime(f results.FCT) float64 { return f.Mean }
func p99Time(f results.FCT) float64  { return f.P99 }

func notSmall(f results.Flow) bool { return !results.Small.Holds(f.Bytes) }

func meanAbove(s Subject) (float64, error) {
	sum, count := 0.0, 0
	for _, class := range []results.Class{results.Medium, results.Large} {
		f := results.Summarize(s.Point.Flows, class)
		sum, count = sum+f.Mean*float64(f.Count), count+f.Count
	}
	if count == 0 {
		return 0, nothing("no flow above 100 KB completed")
	}
	return sum / float64(count), nil
}

// shareBelow is the metric of the share of flows below so many bytes, in percent. A
// flow counts for its weight; the error is for flows that have none.
func shareBelow(bound int64, weight func(results.Flow) float64, none error) compute {
	return func(s Subject) (float64, error) {
		below, all := 0.0, 0.0
		for _, f := range s.Point.Flows {
			all += weight(f)
			if f.Bytes < bound {
				below += weight(f)
			}
		}
		if all == 0 {
			return 0, none
		}
		return 100 * below / all, nil
	}
}

func byBytes(f results.Flow) float64 { return float64(f.Bytes) }

func ifSmall(f results.Flow) float64 {
	if results.Small.Holds(f.Bytes) {
		return 1
	}
	return 0
}

// goodputs are those, in Mbps, of the completed flows of the claim's class.
func (s Subject) goodputs() (all []float64, err error) {
	for _, f := range s.Point.Flows {
		if f.Completed() && results.Class(s.Class).Holds(f.Bytes) {
			all = append(all, float64(f.Bytes)*8/f.FCT.Seconds()/1e6)
		}
	}
	if len(all) == 0 {
		return nil, nothing("no flow of class %s completed", s.Class)
	}
	return all, nil
}

func timeouts(s Subject) (float64, error) {
	return float64(results.CountsOf(s.Point).Timeouts), nil
}

// classTimeouts counts the timeouts of the flows of the claim's class, and the
// flows that met one or more. The timeouts of a flow that was cut short may be
// unknown, but those of one that completed must be known.
func (s Subject) classTimeouts() (flows, met, timeouts float64, err error) {
	for _, f := range s.Point.Flows {
		switch {
		case !results.Class(s.Class).Holds(f.Bytes):
		case f.Timeouts != results.Unknown:
			flows++
			timeouts += float64(f.Timeouts)
			if f.Timeouts > 0 {
				met++
			}
		case f.Completed():
			return 0, 0, 0, nothing("nobody counted the timeouts of single flows")
		}
	}
	if flows == 0 {
		return 0, 0, 0, nothing("there is no flow of class %s", s.Class)
	}
	return flows, met, timeouts, nil
}

func classTimeouts(s Subject) (float64, error) {
	_, _, timeouts, err := s.classTimeouts()
	return timeouts, err
}

func classTimedOut(s Subject) (float64, error) {
	flows, met, _, err := s.classTimeouts()
	if err != nil {
		return 0, err
	}
	return 100 * met / flows, nil
}

// rtt sums up the RTTs of the claim's probe: in its window, or without one in all.
func (s Subject) rtt() (results.FCT, error) { return s.rttWithin(s.Windows) }

func rttAboveBase(s Subject) (float64, error) {
	r, err := s.rtt()
	return r.Mean - float64(s.Lab.RTT.Min.Nanoseconds())/1000, err
}

func rttGrowth(s Subject) (float64, error) {
	return s.windowGrowth(func(w papers.Window) (float64, error) {
		r, err := s.rttWithin([]papers.Window{w})
		return r.Mean, err
	})
}

// rttWithin sums up what the claim's probe measured in the first window, or without
// windows at any time.
func (s Subject) rttWithin(windows []papers.Window) (results.FCT, error) {
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
