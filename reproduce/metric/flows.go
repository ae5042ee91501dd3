package metric

import (
	"slices"

	"aqmlab/results"
)

// fct is the metric of a statistic of the completion times of the claim's class.
func fct(statistic func(results.FCT) float64) compute {
	return func(s Subject) (float64, error) {
		f := results.Summarize(s.Point.Flows, results.Class(s.Class))
		if f.Count == 0 {
			return 0, nothing("no flow of class %s completed", s.Class)
		}
		return statistic(f), nil
	}
}

func meanTime(f results.FCT) float64 { return f.Mean }
func p99Time(f results.FCT) float64  { return f.P99 }

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

func bytesBelow(s Subject) (float64, error) {
	const bound = 10_000_000
	below, all := 0.0, 0.0
	for _, f := range s.Point.Flows {
		all += float64(f.Bytes)
		if f.Bytes < bound {
			below += float64(f.Bytes)
		}
	}
	if all == 0 {
		return 0, ErrNothing
	}
	return 100 * below / all, nil
}

func smallBelow(s Subject) (float64, error) {
	const bound = 24_000
	below, small := 0.0, 0.0
	for _, f := range s.Point.Flows {
		if !results.Small.Holds(f.Bytes) {
			continue
		}
		small++
		if f.Bytes < bound {
			below++
		}
	}
	if small == 0 {
		return 0, nothing("there are no small flows")
	}
	return 100 * below / small, nil
}

// goodput is the metric of a statistic of the goodputs, in Mbps, of the completed
// flows of the claim's class.
func goodput(statistic func([]float64) float64) compute {
	return func(s Subject) (float64, error) {
		var all []float64
		for _, f := range s.Point.Flows {
			if f.Completed() && results.Class(s.Class).Holds(f.Bytes) {
				all = append(all, float64(f.Bytes)*8/f.FCT.Seconds()/1e6)
			}
		}
		if len(all) == 0 {
			return 0, nothing("no flow of class %s completed", s.Class)
		}
		return statistic(all), nil
	}
}

func largest(values []float64) float64 { return slices.Max(values) }

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
