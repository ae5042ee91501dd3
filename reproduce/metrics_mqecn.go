package reproduce

import (
	"fmt"
	"math"

	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

func meanAbove(s subject) (float64, error) {
	sum, count := 0.0, 0
	for _, class := range []results.Class{results.Medium, results.Large} {
		f := results.Summarize(s.point.Flows, class)
		sum, count = sum+f.Mean*float64(f.Count), count+f.Count
	}
	if count == 0 {
		return 0, fmt.Errorf("%w: no flow above 100 KB completed", errNothing)
	}
	return sum / float64(count), nil
}

func smallBelow(s subject) (float64, error) {
	const bound = 24_000
	below, small := 0.0, 0.0
	for _, f := range s.point.Flows {
		if !results.Small.Holds(f.Bytes) {
			continue
		}
		small++
		if f.Bytes < bound {
			below++
		}
	}
	if small == 0 {
		return 0, fmt.Errorf("%w: there are no small flows", errNothing)
	}
	return 100 * below / small, nil
}

func rttGrowth(s subject) (float64, error) {
	return s.growth(func(w papers.Window) (float64, error) {
		r, err := s.rtt([]papers.Window{w})
		return r.Mean, err
	})
}

// growth is the smallest ratio of a figure in neighbouring windows.
func (s subject) growth(of func(papers.Window) (float64, error)) (float64, error) {
	least, before := math.Inf(1), 0.0
	for i, w := range s.Windows {
		v, err := of(w)
		if err != nil {
			return 0, err
		}
		if i > 0 {
			least = min(least, v/before)
		}
		before = v
	}
	if math.IsInf(least, 0) || math.IsNaN(least) {
		return 0, fmt.Errorf("%w: fewer than two windows with traffic", errNothing)
	}
	return least, nil
}
