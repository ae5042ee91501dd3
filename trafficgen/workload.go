package trafficgen

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Bounds of a spec.
const (
	maxServices = 64        // a DSCP has six bits
	maxWeight   = 1_000_000 // keeps the sum of the weights far from overflow
	maxSpan     = 365 * 24 * time.Hour
)

// workload is a validated spec, ready to be drawn from.
type workload struct {
	sizes    Distribution
	arrival  Arrival
	pattern  pattern
	services weights
}

func newWorkload(spec Spec) (w workload, err error) {
	if err := spec.check(); err != nil {
		return w, err
	}
	if w.services, err = newWeights(spec.Services); err != nil {
		return w, err
	}
	if w.pattern, err = findPattern(spec.Pattern); err != nil {
		return w, err
	}
	if w.sizes, err = Sizes().New(spec.Sizes.Kind, spec.Sizes.Params, SizesEnv{Dir: spec.Dir}); err != nil {
		return w, fmt.Errorf("sizes: %w", err)
	}
	env := ArrivalEnv{MeanGap: w.meanGap(spec)}
	if span := env.MeanGap * float64(spec.Flows); span > float64(maxSpan) {
		return w, fmt.Errorf("%d flows at load %v of %v would take about %.0f days of lab time: want at most a year",
			spec.Flows, spec.Load, spec.Rate, span/float64(24*time.Hour))
	}
	if w.arrival, err = Arrivals().New(spec.Arrival.Kind, spec.Arrival.Params, env); err != nil {
		return w, fmt.Errorf("arrival: %w", err)
	}
	return w, nil
}

// meanGap is the mean time in nanoseconds between flows of all clients
// together for which each client has the load that the spec asks for.
func (w workload) meanGap(spec Spec) float64 {
	bits := w.sizes.Mean() * 8
	offered := spec.Load * float64(spec.Rate) * float64(w.pattern.clients(spec.Hosts))
	return bits / offered * float64(time.Second)
}

func (spec Spec) check() error {
	switch {
	case spec.Hosts < 2:
		return fmt.Errorf("hosts: %d is too few: want a client and at least one server", spec.Hosts)
	case spec.Rate <= 0:
		return fmt.Errorf("rate: %d bit/s is not above zero", int64(spec.Rate))
	case !(spec.Load > 0 && spec.Load <= 1): // refuses NaN, too
		return fmt.Errorf("load: %v is outside (0, 1]", spec.Load)
	case spec.Flows < 1:
		return fmt.Errorf("flows: %d is too few: want at least 1", spec.Flows)
	}
	return nil
}

// weights are running sums, so that service i is picked for a number below
// sums[i] and not below sums[i-1].
type weights []int

func newWeights(services []int) (weights, error) {
	if len(services) == 0 {
		return weights{1}, nil
	}
	if len(services) > maxServices {
		return nil, fmt.Errorf("services: %d weights are too many: want at most %d, one for each DSCP", len(services), maxServices)
	}
	sums, sum := make(weights, len(services)), 0
	for i, w := range services {
		if w < 0 || w > maxWeight {
			return nil, fmt.Errorf("services: weight %d of service %d is outside 0 to %d", w, i, maxWeight)
		}
		sum += w
		sums[i] = sum
	}
	if sum == 0 {
		return nil, errors.New("services: all weights are zero: want at least one above")
	}
	return sums, nil
}

func (w weights) pick(r *rand.Rand) int {
	n := r.IntN(w[len(w)-1])
	for i, sum := range w {
		if n < sum {
			return i
		}
	}
	panic("a number below the last sum is below some sum")
}
