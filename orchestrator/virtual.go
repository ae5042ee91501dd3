package orchestrator

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/results"
	"aqmlab/sim"
	"aqmlab/sim/rdma"
	"aqmlab/sim/tcp"
	"aqmlab/switch/packet"
	"aqmlab/trafficgen"
)

// runVirtual runs the points in virtual time, several at once. They are stored
// in the order of the plan, so that the run does not depend on which is done
// first.
func runVirtual(ctx context.Context, lab *labs.Lab, points []point, o RunOptions) (*results.Run, error) {
	m := manifest(lab)
	m.Runtime = string(Sim)
	m.Dilation = 1
	m.Transport.Provider = results.ProviderModel
	m.BaseRTT = results.Micros(lab.RTT.Min)
	jobs := o.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	o.Watcher.Note(fmt.Sprintf("%d modelled hosts, %s, in virtual time, %d at once", lab.Topology.Hosts, lab.Host.Transport, min(jobs, len(points))))
	return store(lab, m, o, func(w Watcher, add func(results.Point) error) error {
		watcher := &oneByOne{Watcher: w}
		return inOrder(ctx, jobs, len(points), func(ctx context.Context, i int) (results.Point, error) {
			return simulate(ctx, lab, points[i], name(points, i, instant), watcher)
		}, add)
	})
}

// instant is the wall time of a trace in virtual time, which nobody knows ahead.
func instant(point) time.Duration { return 0 }

// inOrder makes n points, at most jobs at once, and adds them in their order.
// After an error it has added those that were made before the first that was
// not.
func inOrder(ctx context.Context, jobs, n int, point func(context.Context, int) (results.Point, error), add func(results.Point) error) error {
	group, running := errgroup.WithContext(ctx)
	var skipped atomic.Bool
	group.SetLimit(jobs + 1) // and the one that adds
	made := make([]chan results.Point, n)
	for i := range made {
		made[i] = make(chan results.Point, 1)
	}
	group.Go(func() error {
		for _, c := range made {
			p, ok := <-c
			if !ok {
				return nil
			}
			if err := add(p); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range n {
		group.Go(func() error {
			defer close(made[i])
			// Why is known to whoever ended the others, and better.
			if running.Err() != nil {
				skipped.Store(true)
				return nil
			}
			p, err := point(running, i)
			if err == nil {
				made[i] <- p
			}
			return err
		})
	}
	err := group.Wait()
	if err == nil && skipped.Load() {
		return context.Cause(ctx)
	}
	return err
}

// simulate runs one point in virtual time.
func simulate(ctx context.Context, lab *labs.Lab, p point, named Point, w Watcher) (results.Point, error) {
	w.Begin(named)
	measured, err := virtualPoint(ctx, lab, p, func(s Progress) { w.Progress(named, s) })
	if err != nil {
		return results.Point{}, fmt.Errorf("running %s at load %v, seed %d: %w", p.scheme, p.load, p.seed, err)
	}
	w.End(named, measured)
	return measured, nil
}

// virtualPoint simulates a point and returns what was measured.
func virtualPoint(ctx context.Context, lab *labs.Lab, p point, watch func(Progress)) (results.Point, error) {
	c, err := simulation(lab, p)
	if err != nil {
		return results.Point{}, err
	}
	s, err := sim.New(c)
	if err != nil {
		return results.Point{}, err
	}
	look := func() (results.Seen, error) {
		return results.See(s.Seen()), nil
	}
	err = s.Run(ctx, func(done sim.Progress) {
		watch(Progress{Completed: int64(done.Completed), Failed: int64(done.Failed), Look: look})
	})
	if err != nil {
		return results.Point{}, err
	}
	o := s.Outcome()
	return results.Point{
		Scheme:    p.scheme,
		Load:      p.load,
		Seed:      p.seed,
		Flows:     o.Flows,
		Queues:    o.Queues,
		Probes:    o.Probes,
		Ports:     portCounts(o.Ports),
		Ingress:   ingressCounts(o.Ports),
		Pauses:    pauseCounts(o.Ports),
		Links:     linkCounts(o.Lost),
		Hosts:     o.Hosts,
		Fidelity:  results.Fidelity{Label: results.FidelityExact, CPUHeadroom: 1},
		Senders:   o.Senders,
		Estimates: o.Estimates,
		Services:  o.Services,
		Capture:   o.Capture,
	}, nil
}

// Simulation is one point of a lab as package sim runs it. Errors name what in
// the lab does not fit.
func Simulation(lab *labs.Lab, scheme string, load float64, seed uint64) (sim.Config, error) {
	flows, err := trafficgen.Trace(lab.Traffic(load, seed))
	if err != nil {
		return sim.Config{}, err
	}
	return simulation(lab, point{scheme: scheme, load: load, seed: seed, flows: flows})
}

func simulation(lab *labs.Lab, p point) (sim.Config, error) {
	spec, err := lab.Fabric(p.scheme, p.seed)
	if err != nil {
		return sim.Config{}, err
	}
	c := sim.Config{
		Fabric:      spec,
		Kinds:       lab.Kinds,
		Flows:       p.flows,
		Tagging:     lab.Tagging(),
		Connections: lab.Workload.Connections,
		Handshake:   lab.Workload.Handshake,
		Sample:      sampleEvery(lab, p.flows, spec),
		Goodput:     goodputEvery(lab, p.flows),
		Senders:     lab.Collect.Senders,
		Estimates:   lab.Collect.Estimates,
		Capture:     captureSpec(lab),
		Stall:       virtualStall,
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

// setHosts gives a simulation the hosts that a lab asks for.
func setHosts(c *sim.Config, lab *labs.Lab) error {
	h := lab.Host
	t, err := h.BuildTransport()
	if err != nil {
		return err
	}
	if t.Modelled {
		c.RDMA = &rdma.Config{DCQCN: t.DCQCN, MTU: h.MTU, RTO: h.RTOMin}
		for i := range c.Fabric.Hosts {
			c.RDMA.Uplinks = append(c.RDMA.Uplinks, c.Fabric.Uplink(i))
		}
		return nil
	}
	c.TCP = &tcp.Config{
		Control:     kind.Choice{Kind: h.Transport, Params: h.TransportParams},
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
		SmallQueue:  h.SmallQueue,

		LossRecovery: h.LossRecovery,
	}
	if h.Stack == labs.StackLinux && h.LossRecovery != tcp.SACK {
		likeLinux(c.TCP, max(lab.RTT.Min, lab.RTT.Max))
	}
	return nil
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

// oneByOne keeps the promise that a watcher's methods are called one at a time.
type oneByOne struct {
	mu sync.Mutex
	Watcher
}

// Note passes on.
func (w *oneByOne) Note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Watcher.Note(text)
}

// Begin passes on.
func (w *oneByOne) Begin(p Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Watcher.Begin(p)
}

// Progress passes on.
func (w *oneByOne) Progress(p Point, s Progress) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Watcher.Progress(p, s)
}

// End passes on.
func (w *oneByOne) End(p Point, measured results.Point) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Watcher.End(p, measured)
}
