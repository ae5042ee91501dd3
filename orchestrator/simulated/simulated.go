// Package simulated is the runtime sim: it runs the points of labs on modelled hosts, in
// virtual time.
package simulated

import (
	"context"
	"fmt"
	"time"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
	"aqmlab/sim"
	"aqmlab/sim/rdma"
	"aqmlab/sim/tcp"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
)

// Open readies a lab's models.
func Open(_ context.Context, lab *labs.Lab, o backend.Options) (*backend.Backend, error) {
	if len(lab.Programs) > 0 {
		return nil, fmt.Errorf("lab %s: programs: program %s needs a host with a kernel, and modelled hosts have none: want --runtime uml, netns or docker", lab.Name, lab.Programs[0].Name)
	}
	o.Note(fmt.Sprintf("%d modelled hosts, %s, in virtual time, %d at once", lab.Topology.Hosts, lab.Spoken(), o.Jobs))
	return &backend.Backend{
		Manifest: ManifestOf(lab),
		Jobs:     o.Jobs,
		Measure: func(ctx context.Context, p backend.Point, watch func(backend.Progress)) (results.Point, error) {
			return Models{lab, o.Threads}.Measure(ctx, p, watch)
		},
		Close: func(context.Context) error { return nil },
	}, nil
}

// ManifestOf is that of runs of the lab on modelled hosts.
func ManifestOf(lab *labs.Lab) results.Manifest {
	m := backend.ManifestOf(lab)
	m.ProvidedBy(results.ProviderModel)
	m.BaseRTT = results.Micros(lab.RTT.Min)
	return m
}

// Models are the modelled hosts and switches of a lab.
type Models struct {
	Lab     *labs.Lab
	Threads int // CPUs that a point may have; zero is one
}

// Measure simulates a point and returns what was measured.
func (m Models) Measure(ctx context.Context, p backend.Point, watch func(backend.Progress)) (results.Point, error) {
	c, err := simulation(m.Lab, p)
	if err != nil {
		return results.Point{}, err
	}
	c.Threads = m.Threads
	s, err := sim.New(c)
	if err != nil {
		return results.Point{}, err
	}
	look := func() (results.Seen, error) {
		return results.See(s.Seen()), nil
	}
	err = s.Run(ctx, func(done sim.Progress) {
		watch(backend.Progress{Completed: int64(done.Completed), Failed: int64(done.Failed), Look: look})
	})
	if err != nil {
		return results.Point{}, err
	}
	return PointOf(p.Coord, s.Outcome()), nil
}

// PointOf is what a simulation measured, as a point.
func PointOf(at results.Coord, o sim.Outcome) results.Point {
	p := results.Point{
		Coord:     at,
		Flows:     o.Flows,
		Queues:    o.Queues,
		Probes:    o.Probes,
		Counters:  backend.Counters(o.Ports, o.Lost, o.Hosts),
		Fidelity:  results.Fidelity{Label: results.FidelityExact, CPUHeadroom: 1},
		Senders:   o.Senders,
		Estimates: o.Estimates,
		Services:  o.Services,
		Delays:    o.Delays,
		Capture:   o.Capture,
	}
	p.Classes = o.Classes
	return p
}

// Config is one point of a lab as package sim runs it. Errors name what in
// the lab does not fit.
func Config(lab *labs.Lab, scheme string, load float64, seed uint64) (sim.Config, error) {
	flows, err := trafficgen.Trace(lab.Traffic(load, seed))
	if err != nil {
		return sim.Config{}, err
	}
	return simulation(lab, backend.Point{Coord: results.Coord{Scheme: scheme, Load: load, Seed: seed}, Flows: flows})
}

func simulation(lab *labs.Lab, p backend.Point) (sim.Config, error) {
	spec, err := lab.Fabric(p.Scheme, p.Seed)
	if err != nil {
		return sim.Config{}, err
	}
	c := sim.Config{
		Fabric:      spec,
		Kinds:       lab.Kinds,
		Flows:       p.Flows,
		Tagging:     lab.Tagging(),
		Connections: lab.Workload.Connections,
		Handshake:   lab.Workload.Handshake,
		Sample:      backend.SampleEvery(lab, p.Flows, spec),
		Goodput:     backend.GoodputEvery(lab, p.Flows),
		Senders:     lab.Collect.Senders,
		Estimates:   lab.Collect.Estimates,
		Delays:      lab.Collect.Delays,
		Capture:     backend.CaptureSpec(lab),
		Stall:       virtualStall + spec.Timeline.Downtime(),
		Patience:    lab.ProbePatience(),
	}
	if c.Probes, err = lab.Probes(); err != nil {
		return sim.Config{}, err
	}
	if err := setHosts(&c, lab); err != nil {
		return sim.Config{}, err
	}
	return c, nil
}

// setHosts gives a simulation the hosts that a lab asks for, with all that they speak.
func setHosts(c *sim.Config, lab *labs.Lab) error {
	for i, spoken := range lab.Speaks() {
		one, err := speech(c, lab, spoken)
		switch {
		case err != nil:
			return err
		case i == 0:
			c.Speech = one
		default:
			c.Others = append(c.Others, one)
		}
	}
	return nil
}

// speech is what modelled hosts make of a transport.
func speech(c *sim.Config, lab *labs.Lab, spoken labs.Speech) (s sim.Speech, err error) {
	t, err := spoken.Build()
	if err != nil {
		return s, err
	}
	h := lab.Host
	s.Codepoint = spoken.Codepoint(t)
	if t.Datagrams {
		s.Datagrams = &sim.Datagrams{Payload: h.Datagram()}
		return s, nil
	}
	if t.RDMA {
		s.RDMA = &rdma.Config{DCQCN: t.DCQCN, MTU: h.MTU, RTO: h.RTOMin}
		for i := range c.Fabric.Hosts {
			s.RDMA.Uplinks = append(s.RDMA.Uplinks, c.Fabric.Uplink(i))
		}
		return s, nil
	}
	s.TCP = &tcp.Config{
		Control:     kind.Choice{Kind: spoken.Transport.Kind, Params: spoken.Transport.Params},
		MSS:         h.MTU - packet.TCPHeaders,
		Header:      packet.TCPHeaders,
		InitCwnd:    h.InitCwnd,
		RTOInit:     h.RTOInitial,
		RTOMin:      h.RTOMin,
		Granularity: h.RTOMin, // as Linux does: a timeout is longer than the RTT by that at least
		RTOMax:      h.RTOMax,
		DelayedAck:  h.DelayedACK,
		AckTimeout:  h.ACKTimeout,
		IdleRestart: h.IdleRestart,
		SmallQueue:  smallQueue(h),

		LossRecovery: h.LossRecovery,
	}
	if rtt := max(lab.RTT.Min, lab.RTT.Max); rtt > 0 && lab.Topology.Rate > 0 {
		const links = 4 // of the way across two tiers; fewer make it no less a bound
		s.TCP.BaseRTT = rtt + links*lab.Topology.Rate.Time(h.MTU+packet.FrameOverhead)
	}
	if h.Stack == labs.StackLinux && h.LossRecovery != tcp.SACK {
		likeLinux(s.TCP, max(lab.RTT.Min, lab.RTT.Max))
	}
	return s, nil
}

// smallQueue is how long data may wait for the host's uplink. The kernel counts what waits
// in its own devices. What a port of the switch has been handed is no longer there.
func smallQueue(h labs.Host) time.Duration {
	if h.Port == labs.HostSwitchPort {
		return 0
	}
	return h.SmallQueue
}

// likeLinux adds what Linux does around its transport, with the defaults of its
// settings. Real hosts read 32 KB at a time (trafficgen/live). rtt is the longest
// base RTT; zero when it is not known.
func likeLinux(c *tcp.Config, rtt time.Duration) {
	const superPacket = 1<<16 - 1 // bytes that IP can tell the length of
	c.SuperPacket = superPacket / int64(c.MSS) * int64(c.MSS)
	c.Hold = true
	c.Validation = true
	c.QuickAcks = 16
	c.Receive = tcp.Receive{Buffer: 128 << 10, Most: 6 << 20, ReadAt: 32 << 10}
	if rtt > 0 {
		c.RTOOpen = min(c.RTOInit, c.RTOMin+rtt)
	}
}

// virtualStall is the lab time without a byte for any flow after which a
// simulation is given up: longer than Linux's longest timeout.
const virtualStall = 5 * time.Minute
