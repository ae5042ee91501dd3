// Package trafficgen turns a workload and a seed into the ordered list of
// flows that every scheme and every runtime replays.
//
// # Load
//
// Load is payload over capacity: the application bytes that flows carry over a
// host's link per second of lab time, times eight, over the capacity C of the
// link. Nothing is added for headers, ACKs or retransmissions. In many-to-one
// and one-to-many the link is that of the one host; in all-to-all and
// inter-rack it is that of each host, towards the host. Links between switches
// do not come into it. With S, the mean size of a flow in bytes, each such link
// gets load x C / (8 x S) flows a second.
//
// Where services have sizes of their own, S is the mean over the services of
// their means, each weighed with the share of the flows, or of the pairs, that
// the service has: the arithmetic mean if these are shares of the flows, the
// harmonic one if they are shares of the bytes. A query of an incast counts as
// all of its flows.
//
// # Determinism
//
// A [Spec] gives the same flows on every machine. Gaps, sizes, endpoints,
// services, the services of pairs, the fan-outs of queries and jitter are drawn from
// streams of random numbers of their own, so that changing one part of a spec
// leaves the rest of the trace as it was; a change of load or rate stretches or
// shrinks the start times and touches nothing else. Each of [Spec.Background]
// has its own streams, too. The arithmetic between a random number and a flow is
// kept to operations that IEEE 754 defines to the last bit, and is written so
// that no compiler may fuse a product and a sum.
package trafficgen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Spec says which flows to draw. It is plain data.
type Spec struct {
	Hosts        int
	Racks        []int      // rack of each host; none: all are in one
	Rate         units.Rate // capacity C of a host's link
	Load         float64    // offered payload over C, in (0, 1]; see the package comment
	Flows        int        // how many, where the arrivals do not say it
	Sizes        kind.Choice
	ServiceSizes []kind.Choice // in place of Sizes; service i has those at i modulo the length
	Arrival      kind.Choice
	Pattern      string // who asks whom, one of [Patterns]
	Host         int    // the one of many-to-one and one-to-many
	Services     []int  // weight of each service; none: all flows are of service 0
	ServiceBy    string // what a service is picked for, one of [ServiceRules]; empty: flow
	SharesOf     string // what services share by their weights, one of [Shares]; empty: flows
	Push         bool   // flows start at the server, without a request
	Seed         uint64
	Jitter       time.Duration // each flow starts later than its arrival says by less than that, uniformly drawn; zero: by nothing
	Dir          string        // folder that relative file names start from; empty: the working directory

	// Transports say which flows speak another transport than the hosts'. The first that fits
	// a flow gives it its number, from 1. A flow of a replayed trace that has a number
	// already keeps it.
	Transports []Speaker

	// Background is traffic beside that of the spec. Each has the hosts, racks,
	// rate, seed, jitter and folder of the spec, whatever it says itself, and the load of
	// the spec unless it has its own. It has no background.
	Background []Spec
}

// Trace draws the flows of a spec, ordered by start. Errors name the part of
// the spec that does not fit and what is allowed.
func Trace(spec Spec) ([]traffic.Flow, error) {
	workloads, err := spec.workloads()
	if err != nil {
		return nil, fmt.Errorf("drawing flows: %w", err)
	}
	var flows []traffic.Flow
	queries := 0
	for i, w := range workloads {
		next := queries
		for _, f := range w.spoken(i) {
			f.Workload += i // a replayed trace has its own numbers
			f.Start += w.late()
			if f.Query > 0 {
				f.Query += queries
				next = max(next, f.Query)
			}
			flows = append(flows, f)
		}
		queries = next
	}
	slices.SortStableFunc(flows, func(a, b traffic.Flow) int { return cmp.Compare(a.Start, b.Start) })
	for i := range flows {
		flows[i].ID = i
	}
	return flows, nil
}

// Check tells whether flows can be drawn: its error is that of [Trace].
func (spec Spec) Check() error {
	if _, err := spec.workloads(); err != nil {
		return fmt.Errorf("drawing flows: %w", err)
	}
	return nil
}

// workloads validates the spec and its background.
func (spec Spec) workloads() ([]*workload, error) {
	w, err := newWorkload(spec, 0)
	if err != nil {
		return nil, err
	}
	all := []*workload{w}
	for i, b := range spec.Background {
		w, err := newWorkload(b.beside(spec), i+1)
		if err == nil && b.Background != nil {
			err = errors.New("it has a background of its own")
		}
		if err != nil {
			return nil, fmt.Errorf("background %d: %w", i+1, err)
		}
		all = append(all, w)
	}
	return all, nil
}

// beside takes over what background has in common with the spec it belongs to.
func (spec Spec) beside(main Spec) Spec {
	spec.Hosts, spec.Racks, spec.Rate, spec.Seed, spec.Dir = main.Hosts, main.Racks, main.Rate, main.Seed, main.Dir
	spec.Jitter, spec.Transports = main.Jitter, main.Transports
	if spec.Load == 0 {
		spec.Load = main.Load
	}
	return spec
}
