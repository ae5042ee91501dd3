package results

import (
	"encoding/json"
	"math"
)

// Estimate is the mean of what repetitions gave, and how far it may be off.
type Estimate struct {
	Count int // of repetitions
	Mean  float64
	Half  float64 // of the 95 % interval around the mean, by Student's t; zero with less than two repetitions
}

// EstimateOf takes the mean of independent repetitions.
func EstimateOf(values []float64) Estimate {
	e := Estimate{Count: len(values)}
	if e.Count == 0 {
		return e
	}
	e.Mean = mean(values)
	if e.Count == 1 {
		return e
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - e.Mean) * (v - e.Mean)
	}
	n := float64(e.Count)
	e.Half = Student(e.Count-1, 0.975) * math.Sqrt(squares/(n-1)/n)
	return e
}

// Interval is the 95 % interval; ok is false where one repetition cannot tell.
func (e Estimate) Interval() (low, high float64, ok bool) {
	return e.Mean - e.Half, e.Mean + e.Half, e.Count > 1
}

// MarshalJSON writes the number of repetitions, the mean, and the interval or null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	var ci95 *[2]float64
	if low, high, ok := e.Interval(); ok {
		ci95 = &[2]float64{low, high}
	}
	return json.Marshal(struct {
		Count int         `json:"n"`
		Mean  float64     `json:"mean"`
		CI95  *[2]float64 `json:"ci95"`
	}{e.Count, e.Mean, ci95})
}

// Student is the p-quantile, p in [0.5, 1), of Student's t with df degrees of
// freedom, 1 or more: what t stays below with probability p.
func Student(df int, p float64) float64 {
	// The distribution is known as a function of the angle whose tangent is t over
	// the root of df, and rises with it from 0 to a right angle.
	low, high := 0.0, math.Pi/2
	for range 60 {
		if middle := (low + high) / 2; within(middle, df) < 2*p-1 {
			low = middle
		} else {
			high = middle
		}
	}
	return math.Tan((low+high)/2) * math.Sqrt(float64(df))
}

// within is the probability that t stays between -tan(angle) and tan(angle) times
// the root of df: the finite series of Abramowitz and Stegun, Handbook of Mathematical
// Functions, 26.7.3 and 26.7.4.
func within(angle float64, df int) float64 {
	sin, cos := math.Sincos(angle)
	odd := df % 2
	term, sum := 1.0, 0.0
	if odd == 1 {
		term = cos
	}
	for i := odd; i < df-1; i += 2 {
		sum += term
		term *= cos * cos * float64(i+1) / float64(i+2)
	}
	if odd == 1 {
		return (angle + sin*sum) * 2 / math.Pi
	}
	return sin * sum
}
