package labs

import (
	"errors"
	"fmt"
	"slices"

	"aqmlab/kind"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// Workload is the traffic.
type Workload struct {
	Arrival      kind.Choice
	Sizes        kind.Choice
	ServiceSizes []string // in place of Sizes: kinds without parameters, that go round the services
	Pattern      string
	Host         int // the one of many-to-one and one-to-many, from 1
	Load         []float64
	Flows        int
	Services     []int  // weights; see [Lab.Tagging] for DSCPs and queues
	ServiceBy    string // what a service is picked for, one of [trafficgen.ServiceRules]
	SharesOf     string // what services share by their weights, one of [trafficgen.Shares]
	Transfer     string // Pull or Push

	// What follows is for all traffic of the lab, its background included.

	LoadOf      string       // what load counts: Payload or Wire
	Connections int          // persistent ones, opened ahead to each server; 0: a fresh one for each flow
	Handshake   bool         // opening a fresh connection is part of the flow
	PIAS        []units.Size // thresholds of the priorities that all services share; none: no priorities
}

// Who starts a flow.
const (
	Pull = "pull" // the client asks, and the flow's time counts from there
	Push = "push" // the server sends, and the flow's time counts from there
)

// What load counts.
const (
	Payload = "payload" // application bytes
	Wire    = "wire"    // and the headers and frames of full packets
)

func workloadDefaults() Workload {
	return Workload{
		Arrival:     kind.Choice{Kind: "poisson"},
		Sizes:       kind.Choice{Kind: "websearch"},
		Pattern:     "many-to-one",
		Host:        1,
		Load:        []float64{0.6},
		LoadOf:      Payload,
		Flows:       1000,
		Services:    []int{1},
		ServiceBy:   trafficgen.ByFlow,
		SharesOf:    trafficgen.OfFlows,
		Transfer:    Pull,
		Connections: 5,
		Handshake:   true,
	}
}

const (
	workloadKey     = "workload"
	loadPath        = workloadKey + ".load"
	loadOfPath      = workloadKey + ".load_of"
	connectionsPath = workloadKey + ".connections"
	handshakePath   = workloadKey + ".handshake"
	piasPath        = workloadKey + ".pias"
)

// trafficKeys lists the keys that the workload and each background have.
func trafficKeys(prefix string, w *Workload, load codec) []key {
	at := func(name string) string { return join(prefix, name) }
	return []key{
		{at("pattern"), oneOf(&w.Pattern, "pattern", trafficgen.Patterns())},
		{at("host"), whole(&w.Host, 1, maxHosts)},
		{at("load"), load},
		{at("flows"), whole(&w.Flows, 1, 100_000_000)},
		{at("services"), services(&w.Services)},
		{at("service_by"), oneOf(&w.ServiceBy, "rule", trafficgen.ServiceRules())},
		{at("shares_of"), written(oneOf(&w.SharesOf, "share", trafficgen.Shares()), w.SharesOf != trafficgen.OfFlows)},
		{at("service_sizes"), unlessEmpty(&w.ServiceSizes, list(&w.ServiceSizes, nameOf("sizes", plainSizes()...)))},
		{at("transfer"), oneOf(&w.Transfer, "transfer", []string{Pull, Push})},
	}
}

// workloadKeys lists the keys of the workload.
func workloadKeys(w *Workload) []key {
	load := distinct(&w.Load, list(&w.Load, fraction))
	return append(trafficKeys(workloadKey, w, load),
		key{loadOfPath, written(oneOf(&w.LoadOf, "count", []string{Payload, Wire}), w.LoadOf != Payload)},
		key{connectionsPath, whole(&w.Connections, 0, 1000)},
		key{handshakePath, written(flag(&w.Handshake), w.Connections == 0)},
		key{piasPath, unlessEmpty(&w.PIAS, thresholds(&w.PIAS))})
}

// plainSizes lists the distributions of sizes that are all in their name.
func plainSizes() []string {
	var names []string
	for _, k := range trafficgen.Sizes() {
		if len(k.Params) == 0 {
			names = append(names, k.Name)
		}
	}
	return names
}

// unlessEmpty leaves the key of an empty list out of a written lab.
func unlessEmpty[T any](dst *[]T, c codec) codec {
	return codec{c.read, func() any {
		if len(*dst) == 0 {
			return nil
		}
		return c.write()
	}}
}

// none is no threshold.
const none = "none"

// thresholds is a size or a list of rising sizes, or none.
func thresholds(dst *[]units.Size) codec {
	c := list(dst, size)
	read := func(value any) error {
		if s, ok := asString(value); ok && s == none {
			*dst = nil
			return nil
		}
		if err := c.read(value); err != nil {
			return err
		}
		return trafficgen.Tagging{Thresholds: *dst}.Check(1)
	}
	return codec{read, func() any {
		var texts []string
		for _, t := range *dst {
			texts = append(texts, t.String())
		}
		return texts
	}}
}

// Tagging says which DSCP the bytes of a flow have, which is that of their
// queue.
func (l *Lab) Tagging() trafficgen.Tagging {
	return trafficgen.Tagging{Thresholds: slices.Clone(l.Workload.PIAS)}
}

// Traffic is the flows to draw at one load and seed. Every scheme and runtime
// gets the same.
func (l *Lab) Traffic(load float64, seed uint64) trafficgen.Spec {
	share := 1.0 // of what load counts, that is payload
	if l.Workload.LoadOf == Wire {
		share = float64(l.Host.MTU-packet.TCPHeaders) / float64(l.Host.MTU+packet.FrameOverhead)
	}
	spec := l.Workload.spec(load * share)
	spec.Hosts, spec.Racks, spec.Rate, spec.Seed = l.Topology.Hosts, l.Topology.Racks(), l.Topology.Rate, seed
	for _, b := range l.Background {
		own := 0.0 // that of the point
		if len(b.Load) > 0 {
			own = b.Load[0] * share
		}
		spec.Background = append(spec.Background, b.spec(own))
	}
	return spec
}

// spec is what a workload says of its own.
func (w Workload) spec(load float64) trafficgen.Spec {
	spec := trafficgen.Spec{
		Load:      load,
		Flows:     w.Flows,
		Sizes:     clone(w.Sizes),
		Arrival:   clone(w.Arrival),
		Pattern:   w.Pattern,
		Host:      w.Host - 1,
		Services:  slices.Clone(w.Services),
		ServiceBy: w.ServiceBy,
		SharesOf:  w.SharesOf,
		Push:      w.Transfer == Push,
	}
	for _, name := range w.ServiceSizes {
		spec.ServiceSizes = append(spec.ServiceSizes, kind.Choice{Kind: name})
	}
	return spec
}

var errTwoLoads = errors.New("want one load, or leave it out for that of the workload")

// oneLoad is the load of a background; none is that of the workload.
func oneLoad(dst *[]float64) codec {
	c := list(dst, fraction)
	read := func(value any) error {
		if len(asList(value)) > 1 {
			return fmt.Errorf("%s is a list: %w", show(value), errTwoLoads)
		}
		return c.read(value)
	}
	return unlessEmpty(dst, codec{read, func() any { return (*dst)[0] }})
}
