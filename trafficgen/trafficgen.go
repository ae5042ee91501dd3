// Package trafficgen turns a workload and a seed into the ordered list of
// flows that every scheme and every runtime replays.
//
// # Load
//
// Load is payload over capacity: the application bytes that a client's flows
// ask for per second of lab time, times eight, over the capacity C of the link
// that the responses reach the client by. Nothing is added for headers, ACKs
// or retransmissions. With the mean flow size S in bytes, each client starts
// load x C / (8 x S) flows a second.
//
// # Determinism
//
// A [Spec] gives the same flows on every machine. Gaps, sizes, endpoints and
// services are drawn from four streams of random numbers, so that changing one
// part of a spec leaves the rest of the trace as it was; a change of load or
// rate stretches or shrinks the start times and touches nothing else. The
// arithmetic between a random number and a flow is kept to operations that
// IEEE 754 defines to the last bit, and is written so that no compiler may fuse
// a product and a sum.
package trafficgen

import (
	"fmt"
	"math/rand/v2"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

// MaxBytes is the largest flow, 1 TiB.
const MaxBytes = 1 << 40

// Flow is one request: at Start the client asks the server for Bytes.
type Flow struct {
	ID      int           // index in the trace
	Start   time.Duration // lab time, above zero
	Client  int           // index of the host that asks and receives
	Server  int           // index of the host that sends
	Bytes   int64         // payload, from 1 to [MaxBytes]
	Service int           // DSCP and queue of the response
}

// Spec says which flows to draw. It is plain data.
type Spec struct {
	Hosts    int
	Rate     units.Rate // capacity C of the bottleneck link, which is the client's
	Load     float64    // offered payload over C for each client, in (0, 1]
	Flows    int        // how many
	Sizes    kind.Choice
	Arrival  kind.Choice
	Pattern  string // who asks whom, one of [Patterns]
	Services []int  // weight of each service; a flow picks one at random; none: all are service 0
	Seed     uint64
	Dir      string // folder that relative file names start from; empty: the working directory
}

// Trace draws the flows of a spec, ordered by start. Errors name the part of
// the spec that does not fit and what is allowed.
func Trace(spec Spec) ([]Flow, error) {
	w, err := newWorkload(spec)
	if err != nil {
		return nil, fmt.Errorf("drawing flows: %w", err)
	}
	s := newStreams(spec.Seed)
	flows := make([]Flow, spec.Flows)
	var at time.Duration
	for i := range flows {
		at = max(at+w.arrival.Next(s.gaps), 1)
		client, server := w.pattern.pick(s.endpoints, spec.Hosts)
		flows[i] = Flow{
			ID:      i,
			Start:   at,
			Client:  client,
			Server:  server,
			Bytes:   w.sizes.Draw(s.sizes),
			Service: w.services.pick(s.services),
		}
	}
	return flows, nil
}

// streams are the independent sources of randomness of one trace.
type streams struct{ gaps, sizes, endpoints, services *rand.Rand }

// newStreams seeds every stream from one generator. Seeding them with the
// bare seed and a small number would start them a fixed distance apart on one
// cycle, and give neighbouring seeds the same low halves for ever.
func newStreams(seed uint64) streams {
	root := rand.NewPCG(seed, 0)
	next := func() *rand.Rand { return rand.New(rand.NewPCG(root.Uint64(), root.Uint64())) }
	var s streams
	s.gaps, s.sizes, s.endpoints, s.services = next(), next(), next(), next()
	return s
}
