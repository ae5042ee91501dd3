package trafficgen

import (
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
)

// Arrival says when flows start.
type Arrival interface {
	// Next is the lab time from the start of one flow to that of the next, or
	// from zero to that of the first. It is zero or more.
	Next(*rand.Rand) time.Duration
}

// ArrivalEnv is what an arrival process is built for. Parameters are validated
// in any environment, the zero one included.
type ArrivalEnv struct {
	MeanGap float64 // nanoseconds of lab time between flows at the wanted load
}

// Arrivals lists every arrival process.
func Arrivals() kind.Table[ArrivalEnv, Arrival] {
	return kind.Table[ArrivalEnv, Arrival]{
		kind.Row("poisson", "independent flows: exponential gaps whose mean gives the load", struct{}{}, newPoisson),
	}
}

// poisson is a Poisson process with that mean gap in nanoseconds.
type poisson float64

var _ Arrival = poisson(0)

func newPoisson(_ struct{}, env ArrivalEnv) (Arrival, error) { return poisson(env.MeanGap), nil }

// Next rounds to the nearest nanosecond, so that the error over many gaps does
// not add up to a change of load.
func (p poisson) Next(r *rand.Rand) time.Duration {
	return time.Duration(math.Round(float64(p) * exponential(r)))
}

// exponential draws from the exponential distribution with mean 1 by von
// Neumann's comparison method ("Various techniques used in connection with
// random digits", 1951): a falling run of uniform numbers that begins with u
// has odd length with probability exp(-u). It needs no logarithm, whose last
// bit is not the same on every machine.
func exponential(r *rand.Rand) float64 {
	for whole := 0; ; whole++ {
		first := r.Float64()
		last, odd := first, true
		for u := r.Float64(); u < last; u = r.Float64() {
			last, odd = u, !odd
		}
		if odd {
			return float64(whole) + first
		}
	}
}
