package metric

import (
	"errors"
	"fmt"
	"math"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// Subject is what a figure is computed of: what a claim is about, of one point.
type Subject struct {
	papers.Claim
	Point results.Point
	Lab   *labs.Lab
}

// compute is how a figure is computed.
type compute = func(Subject) (float64, error)

// statistic computes one number from what take finds at a point.
func statistic[T any](take func(Subject) (T, error), number func(T) float64) compute {
	return func(s Subject) (float64, error) {
		found, err := take(s)
		if err != nil {
			return 0, err
		}
		return number(found), nil
	}
}

// ErrNothing says that a point holds nothing that the metric is of.
var ErrNothing = errors.New("nothing of it was measured")

// ErrNotRun says that a point has not been run.
var ErrNotRun = fmt.Errorf("%w: no point that it is about has been run", ErrNothing)

// nothing says what is missing. It wraps [ErrNothing].
func nothing(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrNothing, fmt.Sprintf(format, args...))
}

// window is the claim's one window; the paper's file has it where it is needed.
func (s Subject) window() (papers.Window, error) {
	if len(s.Windows) == 0 {
		return papers.Window{}, nothing("the claim names no window")
	}
	return s.Windows[0], nil
}

// windowGrowth is the smallest ratio of a figure in neighbouring windows.
func (s Subject) windowGrowth(figure func(papers.Window) (float64, error)) (float64, error) {
	var values []float64
	for _, w := range s.Windows {
		v, err := figure(w)
		if err != nil {
			return 0, err
		}
		values = append(values, v)
	}
	return growth(values, "windows with traffic")
}

// growth is the smallest ratio of neighbouring values. The error for fewer than two
// names what the values are of.
func growth(values []float64, of string) (float64, error) {
	least := math.Inf(1)
	for i := 1; i < len(values); i++ {
		least = min(least, values[i]/values[i-1])
	}
	if math.IsInf(least, 0) || math.IsNaN(least) {
		return 0, nothing("fewer than two %s", of)
	}
	return least, nil
}

// mean of at least one value.
func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
