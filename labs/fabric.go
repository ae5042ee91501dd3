package labs

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"aqmlab/kind"
	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

const (
	switchName = "s1"
	maxHosts   = 1<<16 - 2 // in 10.77.0.0/16, without its first and last address
)

// Fabric is the network for one scheme of the lab: hosts h1, h2 ... with the
// addresses 10.77.0.1, 10.77.0.2 ... around the switch s1. Each link has a
// quarter of the base RTT as its delay, so that a round trip, over two links
// and back, takes all of it. The error for a scheme that the lab does not have
// wraps [kind.ErrUnknown].
func (l *Lab) Fabric(scheme string, seed uint64) (fabric.Spec, error) {
	p, err := l.port(scheme, seed)
	if err != nil {
		return fabric.Spec{}, fmt.Errorf("laying out lab %s: %w", l.Name, err)
	}
	spec := fabric.Spec{Switches: []string{switchName}, Port: p, Seed: seed}
	for i := range l.Topology.Hosts {
		h := fabric.Host{Name: fmt.Sprintf("h%d", i+1), Addr: address(i)}
		spec.Hosts = append(spec.Hosts, h)
		spec.Links = append(spec.Links, fabric.Link{A: h.Name, B: switchName, Rate: l.Topology.Rate, Delay: l.RTT.Min / 4})
	}
	return spec, nil
}

func address(host int) netip.Addr {
	n := host + 1
	return netip.AddrFrom4([4]byte{10, 77, byte(n >> 8), byte(n)})
}

func (l *Lab) port(scheme string, seed uint64) (port.Spec, error) {
	names := l.schemeNames()
	i := slices.Index(names, scheme)
	if i < 0 {
		return port.Spec{}, kind.Unknown("scheme", scheme, names)
	}
	spec := port.Spec{
		Rate:      l.Topology.Rate,
		RTT:       l.RTT.Min,
		Queues:    l.Switch.Queues,
		Buffer:    l.Switch.buffer(),
		Sharing:   port.Sharing{Kind: l.Switch.Buffer.Sharing, PerQueue: l.Switch.Buffer.PerQueue, Alpha: l.Switch.Buffer.Alpha},
		Scheduler: clone(l.Switch.Scheduler),
		Scheme:    clone(l.Schemes[i].AQM),
		Ingress:   clone(l.Schemes[i].Ingress),
		Seed:      seed,
	}
	if l.Switch.Limiter.RateFraction < 1 {
		spec.Limiter = port.Limiter(l.Switch.Limiter)
	}
	return spec, nil
}

// buffer is what a port may fill: its own memory, or the pool.
func (s Switch) buffer() units.Size {
	switch s.Buffer.Sharing {
	case port.SharedStatic:
		return units.Size(s.Queues) * s.Buffer.PerQueue
	case port.SharedPool, port.SharedDynamic:
		return s.Buffer.Pool
	}
	return s.Buffer.PerPort
}

// Traffic is the flows to draw at one load and seed. Every scheme and runtime
// gets the same.
func (l *Lab) Traffic(load float64, seed uint64) trafficgen.Spec {
	return trafficgen.Spec{
		Hosts:    l.Topology.Hosts,
		Rate:     l.Topology.Rate,
		Load:     load,
		Flows:    l.Workload.Flows,
		Sizes:    clone(l.Workload.Sizes),
		Arrival:  clone(l.Workload.Arrival),
		Pattern:  l.Workload.Pattern,
		Services: slices.Clone(l.Workload.Services),
		Seed:     seed,
	}
}

// clone keeps the receiver of a choice from changing the lab.
func clone(c kind.Choice) kind.Choice { return kind.Choice{Kind: c.Kind, Params: maps.Clone(c.Params)} }
