package trafficgen

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
)

// maxSpan bounds the lab time that a trace takes.
const maxSpan = 365 * 24 * time.Hour

// workload is a validated spec, ready to be drawn from.
type workload struct {
	Spec
	streams
	layout   layout
	pattern  pattern
	arrival  Arrival
	services weights
	pairs    *pairing       // nil: a flow picks its service
	sizes    []Distribution // of service i are those at i modulo the length
	mean     float64        // bytes of a flow
	least    float64        // mean of the service with the smallest flows
}

// newWorkload validates a spec; number tells the workloads of a trace apart.
func newWorkload(spec Spec, number int) (w *workload, err error) {
	w = &workload{Spec: spec, streams: newStreams(spec.Seed, number), layout: layout{spec.Hosts, spec.Racks, spec.Host}}
	if err := spec.check(); err != nil {
		return nil, err
	}
	if w.services, err = newWeights(spec.Services); err != nil {
		return nil, err
	}
	if w.pattern, err = findPattern(spec.Pattern, w.layout); err != nil {
		return nil, err
	}
	if spec.ServiceBy == ByPair || spec.ServiceBy == ByPairNumber {
		if w.pairs, err = newPairing(w.layout, w.pattern, w.services, spec.ServiceBy, w.streams.pairs); err != nil {
			return nil, err
		}
	}
	if err := w.makeSizes(); err != nil {
		return nil, err
	}
	if w.arrival, err = Arrivals().New(spec.Arrival.Kind, spec.Arrival.Params, Env{Dir: spec.Dir}); err != nil {
		return nil, fmt.Errorf("arrival: %w", err)
	}
	if _, ok := w.arrival.(poisson); !ok && spec.SharesOf == OfBytes {
		return nil, fmt.Errorf("services share bytes with poisson arrivals only, not with %s", spec.Arrival.Kind)
	}
	if err := w.arrival.check(w); err != nil {
		return nil, err
	}
	return w, nil
}

func (spec Spec) check() error {
	switch {
	case spec.Hosts < 2:
		return fmt.Errorf("hosts: %d is too few: want a client and at least one server", spec.Hosts)
	case spec.Racks != nil && len(spec.Racks) != spec.Hosts:
		return fmt.Errorf("racks: %d of %d hosts have one", len(spec.Racks), spec.Hosts)
	case spec.Host < 0 || spec.Host >= spec.Hosts:
		return fmt.Errorf("host: %d is outside 0 to %d", spec.Host, spec.Hosts-1)
	case spec.Jitter < 0:
		return fmt.Errorf("jitter: %v is below zero", spec.Jitter)
	case spec.Jitter > 0 && spec.Arrival.Kind == replayed:
		return errors.New("jitter: a replayed trace has its own times: want none")
	case spec.Rate <= 0:
		return fmt.Errorf("rate: %d bit/s is not above zero", int64(spec.Rate))
	}
	return spec.checkServices()
}

// late draws how much later than its arrival says a flow starts.
func (w *workload) late() time.Duration {
	if w.Jitter == 0 {
		return 0
	}
	return time.Duration(w.streams.jitter.Int64N(int64(w.Jitter)))
}

// makeSizes makes the distributions and the mean over all services.
func (w *workload) makeSizes() error {
	choices := w.ServiceSizes
	if len(choices) == 0 {
		choices = []kind.Choice{w.Sizes}
	}
	for _, c := range choices {
		d, err := Sizes().New(c.Kind, c.Params, Env{Dir: w.Dir})
		if err != nil {
			return fmt.Errorf("sizes: %w", err)
		}
		w.sizes = append(w.sizes, d)
	}
	if w.mean = w.sizes[0].Mean(); len(w.sizes) == 1 {
		w.least = w.mean
		return nil
	}
	var mean, inverse float64
	w.least = math.Inf(1)
	for service, share := range w.shares() {
		m := w.sizesOf(service).Mean()
		mean += float64(share * m)
		inverse += share / m
		if share > 0 {
			w.least = min(w.least, m)
		}
	}
	if w.mean = mean; w.SharesOf == OfBytes {
		w.mean = 1 / inverse
	}
	return nil
}

// shares is how large a part each service has of what services share.
func (w *workload) shares() []float64 {
	if w.pairs != nil {
		return w.pairs.shares
	}
	return w.services.shares()
}

func (w *workload) sizesOf(service int) Distribution { return w.sizes[service%len(w.sizes)] }

// gap is the mean time in nanoseconds between flows of all clients together
// for which each link that the pattern loads has the load that the spec asks
// for.
func (w *workload) gap() float64 {
	bits := w.mean * 8
	offered := w.Load * float64(w.Rate) * float64(w.pattern.links(w.layout))
	return bits / offered * float64(time.Second)
}

// next draws a flow between any two hosts. Where services share bytes, the
// larger a service's flows are, the more of them are left out.
func (w *workload) next(at time.Duration) traffic.Flow {
	for {
		client, server := w.pattern.pick(w.endpoints, w.layout)
		f := w.blank(at, client, server)
		sizes := w.sizesOf(f.Service)
		if w.SharesOf == OfBytes && float64(w.endpoints.Float64()*sizes.Mean()) >= w.least {
			continue
		}
		f.Bytes = sizes.Draw(w.streams.sizes)
		return f
	}
}

// flow draws the service and the size of a flow between two hosts.
func (w *workload) flow(at time.Duration, client, server int) traffic.Flow {
	f := w.blank(at, client, server)
	f.Bytes = w.sizesOf(f.Service).Draw(w.streams.sizes)
	return f
}

// blank draws the service of a flow that has no size yet.
func (w *workload) blank(at time.Duration, client, server int) traffic.Flow {
	return traffic.Flow{
		Start:   max(at, 1),
		Client:  client,
		Server:  server,
		Service: w.service(client, server),
		Push:    w.Push,
	}
}

func (w *workload) service(client, server int) int {
	if w.pairs != nil {
		return w.pairs.service(client, server)
	}
	return w.services.pick(w.streams.services)
}

// checkLoad tells whether the spec has a load to go by.
func (w *workload) checkLoad() error {
	if !(w.Load > 0 && w.Load <= 1) { // refuses NaN, too
		return fmt.Errorf("load: %v is outside (0, 1]", w.Load)
	}
	return nil
}

// checkFlows tells whether the spec has a number of flows to go by.
func (w *workload) checkFlows() error {
	if w.Flows < 1 {
		return fmt.Errorf("flows: %d is too few: want at least 1", w.Flows)
	}
	return nil
}

var errTooLong = errors.New("want at most a year")

// checkSpan refuses traces that end beyond what lab time is good for.
func checkSpan(what string, nanoseconds float64) error {
	if nanoseconds > float64(maxSpan) {
		return fmt.Errorf("%s would take about %.0f days of lab time: %w", what, nanoseconds/float64(24*time.Hour), errTooLong)
	}
	return nil
}

// streams are the independent sources of randomness of one workload.
type streams struct{ gaps, sizes, endpoints, services, pairs, queries, jitter *rand.Rand }

// newStreams seeds every stream from one generator. Seeding them with the
// bare seed and a small number would start them a fixed distance apart on one
// cycle, and give neighbouring seeds the same low halves for ever. New streams
// are added at the end, which leaves the others as they are.
func newStreams(seed uint64, number int) streams {
	root := rand.NewPCG(seed, uint64(number))
	next := func() *rand.Rand { return rand.New(rand.NewPCG(root.Uint64(), root.Uint64())) }
	var s streams
	s.gaps, s.sizes, s.endpoints, s.services = next(), next(), next(), next()
	s.pairs, s.queries, s.jitter = next(), next(), next()
	return s
}

// Sample draws that many sizes with a seed.
func Sample(d Distribution, n int, seed uint64) []int64 {
	r := newStreams(seed, 0).sizes
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = d.Draw(r)
	}
	return sizes
}
