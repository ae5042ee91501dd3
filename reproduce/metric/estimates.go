package metric

import (
	"math"

	"aqmlab/results"
)

// near is how close a smoothed rate must come to be there. The step that TCN, Fig.
// 2, is about leaves 2 % after the 29 samples that the paper says do not suffice.
const near = 0.01

// estimates lists those of the claim's queue within its window.
func (s Subject) estimates() ([]results.EstimateSample, error) {
	w, err := s.window()
	if err != nil {
		return nil, err
	}
	var within []results.EstimateSample
	for _, e := range s.Point.Estimates {
		if e.Port == s.Port && int(e.Queue) == s.Queue && w.Ends(e.At) {
			within = append(within, e)
		}
	}
	if len(within) == 0 {
		return nil, nothing("no estimates of queue %d to %s", s.Queue, s.Port)
	}
	return within, nil
}

func rateSamples(s Subject) (float64, error) {
	within, err := s.estimates()
	return float64(len(within)), err
}

// estimate is the metric of the lowest or the highest rate of the claim's queue
// within its window, in Gbps on the wire.
func estimate(choose func(a, b float64) float64, rate func(results.EstimateSample) int64) compute {
	return func(s Subject) (float64, error) {
		within, err := s.estimates()
		if err != nil {
			return 0, err
		}
		chosen := float64(rate(within[0]))
		for _, e := range within[1:] {
			chosen = choose(chosen, float64(rate(e)))
		}
		return onWire(s, chosen/1e9), nil
	}
}

func single(e results.EstimateSample) int64   { return e.Rate }
func smoothed(e results.EstimateSample) int64 { return e.Smoothed }

// rateConvergence is infinite when the smoothed rate never comes near what the
// queue took of the link.
func rateConvergence(s Subject) (float64, error) {
	within, err := s.estimates()
	if err != nil {
		return 0, err
	}
	w, err := s.window()
	if err != nil {
		return 0, err
	}
	mbps, err := s.rate(w.SecondHalf(), s.Queue)
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
