package trafficgen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/trafficgen/traffic"
)

// Arrival says when which flows start.
type Arrival interface {
	// ByLoad tells whether the load of the spec sets how often flows start.
	ByLoad() bool
	// check tells whether the arrivals fit the workload.
	check(*workload) error
	// flows draws the flows of a workload, in any order, without their numbers.
	flows(*workload) []traffic.Flow
}

// replayed is the arrival process that reads its flows from a file.
const replayed = "trace"

// poisson is a Poisson process.
type poisson struct {
	Gap time.Duration `lab:"gap" range:"0s..100h" doc:"mean time between flows, all clients together; without, what gives the load"`
}

var _ Arrival = poisson{}

func newPoisson(p poisson, _ Env) (Arrival, error) { return p, nil }

func (p poisson) ByLoad() bool { return p.Gap == 0 }

func (p poisson) mean(w *workload) float64 {
	if p.ByLoad() {
		return w.gap()
	}
	return float64(p.Gap)
}

func (p poisson) check(w *workload) error {
	if err := w.checkFlows(); err != nil {
		return err
	}
	what := fmt.Sprintf("%d flows", w.Flows)
	if p.ByLoad() {
		if err := w.checkLoad(); err != nil {
			return err
		}
		what += fmt.Sprintf(" at load %v of %v", w.Load, w.Rate)
	}
	return checkSpan(what, p.mean(w)*float64(w.Flows))
}

func (p poisson) flows(w *workload) []traffic.Flow {
	flows, mean := make([]traffic.Flow, w.Flows), p.mean(w)
	var at time.Duration
	for i := range flows {
		at = max(at+randomGap(w.gaps, mean), 1)
		flows[i] = w.next(at)
	}
	return flows
}

// randomGap draws an exponential time of a mean in nanoseconds. It rounds to
// the nearest nanosecond, so that the error over many gaps does not add up to a
// change of load.
func randomGap(r *rand.Rand, mean float64) time.Duration {
	return time.Duration(math.Round(mean * exponential(r)))
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
