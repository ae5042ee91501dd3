package reproduce

import (
	"fmt"
	"math"

	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// near is how close a smoothed rate must come to be there. The step that TCN, Fig.
// 2, is about leaves 2 % after the 29 samples that the paper says do not suffice.
const near = 0.01

// estimates lists those of the claim's queue within a window.
func (s subject) estimates(w papers.Window) ([]results.EstimateSample, error) {
	var within []results.EstimateSample
	for _, e := range s.point.Estimates {
		if e.Port == s.Port && int(e.Queue) == s.Queue && e.At > w.From && e.At <= w.To {
			within = append(within, e)
		}
	}
	if len(within) == 0 {
		return nil, fmt.Errorf("%w: no estimates of queue %d to %s", errNothing, s.Queue, s.Port)
	}
	return within, nil
}

// overEstimates folds what is asked of them within the claim's window.
func (s subject) overEstimates(fold func(a, b float64) float64, of func(results.EstimateSample) int64) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	within, err := s.estimates(w)
	if err != nil {
		return 0, err
	}
	v := s.gbps(of(within[0]))
	for _, e := range within[1:] {
		v = fold(v, s.gbps(of(e)))
	}
	return v, nil
}

// gbps is what a rate of network-layer bytes takes of the link.
func (s subject) gbps(rate int64) float64 { return float64(rate) / 1e9 * s.wireShare() }

func single(e results.EstimateSample) int64   { return e.Rate }
func smoothed(e results.EstimateSample) int64 { return e.Smoothed }

func lowestSample(s subject) (float64, error)  { return s.overEstimates(math.Min, single) }
func highestSample(s subject) (float64, error) { return s.overEstimates(math.Max, single) }

// lowestEstimate is what a rate that stays too high is above.
func lowestEstimate(s subject) (float64, error) { return s.overEstimates(math.Min, smoothed) }

func rateSamples(s subject) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	within, err := s.estimates(w)
	return float64(len(within)), err
}

// rateConvergence is infinite when the smoothed rate never comes near what the
// queue took of the link.
func rateConvergence(s subject) (float64, error) {
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	within, err := s.estimates(w)
	if err != nil {
		return 0, err
	}
	mbps, err := s.rate(papers.Window{From: w.From + (w.To-w.From)/2, To: w.To}, only(s.Queue))
	if err != nil {
		return 0, err
	}
	for _, e := range within {
		if math.Abs(float64(e.Smoothed)/1e6-mbps) <= near*mbps {
			return float64((e.At - w.From).Nanoseconds()) / 1000, nil
		}
	}
	return math.Inf(1), nil
}
