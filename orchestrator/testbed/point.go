package testbed

import (
	"context"
	"sync"
	"time"

	"aqmlab/collectors"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

const (
	// pollEvery is how often the progress of a replay is looked at.
	pollEvery = 100 * time.Millisecond
	// stall is the wall time without a byte for any flow under way after which
	// a replay is given up: several retransmission timeouts of a second each.
	stall = 15 * time.Second
	// settle is the wall time in which closed connections take leave before the
	// switch stops.
	settle = 50 * time.Millisecond
)

// run replays a point and returns what was measured. watch is told of the
// replay's progress.
func (t *Testbed) Run(ctx context.Context, p backend.Point, watch func(role.State)) (results.Point, error) {
	m, err := t.measure(ctx, p, watch)
	if err != nil {
		return results.Point{}, err
	}
	zero := time.Duration(float64(m.zero-m.sw.Start) / t.dilation)
	out := results.Point{
		Coord:    p.Coord,
		Flows:    m.Flows,
		Probes:   m.probes,
		Senders:  m.senders,
		Services: m.services,
		Ports:    backend.PortCounts(m.sw.Ports),
		Ingress:  backend.IngressCounts(m.sw.Ports),
		Pauses:   backend.PauseCounts(m.sw.Ports),
		Links:    backend.LinkCounts(m.sw.Lost),
		Hosts:    m.hosts,
		Fidelity: t.judge(m),
	}
	out.Capture = m.sw.Capture
	collectors.Shift(out.Capture, -zero)
	for _, q := range m.sw.Queues {
		if q.At -= zero; q.At >= 0 {
			out.Queues = append(out.Queues, q)
		}
	}
	for _, e := range m.sw.Estimates {
		if e.At -= zero; e.At >= 0 {
			out.Estimates = append(out.Estimates, e)
		}
	}
	return out, nil
}

// measurement is what one replay leaves.
type measurement struct {
	replayed
	hosts []results.HostCount
	sw    role.Measured
	cpu   float64 // share of the hosts' CPUs that the lab used
	// kernel adds up what the hosts' kernels counted.
	kernel host.Counters
}

func (t *Testbed) measure(ctx context.Context, p backend.Point, watch func(role.State)) (m measurement, err error) {
	m.sw, err = t.WithSwitch(ctx, p, func(ctx context.Context) error {
		before, err := t.counters()
		if err != nil {
			return err
		}
		idle, err := t.used()
		if err != nil {
			return err
		}
		if m.replayed, err = t.Replay(ctx, p.Flows, backend.GoodputEvery(t.lab, p.Flows), watch); err != nil {
			return err
		}
		used, err := t.used()
		if err != nil {
			return err
		}
		m.cpu = used.since(idle)
		if err := sleep(ctx, settle); err != nil {
			return err
		}
		after, err := t.counters()
		m.hosts = t.hostCounts(before, after)
		m.kernel = sum(before, after)
		return err
	})
	return m, err
}

// withSwitch runs the fabric of a point's scheme while do does its work. After
// an error the switch may still be running, and the testbed is good for nothing
// but being removed.
func (t *Testbed) WithSwitch(ctx context.Context, p backend.Point, do func(context.Context) error) (role.Measured, error) {
	spec, err := t.ready(p.Scheme, p.Seed)
	if err != nil {
		return role.Measured{}, err
	}
	f := role.Fabric{Spec: spec, Dilation: t.dilation}
	if len(p.Flows) > 0 { // else nobody looks at more than the report
		f.Sample, f.Capture = backend.SampleEvery(t.lab, p.Flows, spec), backend.CaptureSpec(t.lab)
		f.Estimates = t.lab.Collect.Estimates
	}
	return t.withFabric(ctx, f, do)
}

// withFabric is withSwitch for any fabric of the lab's hosts.
func (t *Testbed) withFabric(ctx context.Context, f role.Fabric, do func(context.Context) error) (role.Measured, error) {
	if err := t.startFabric(ctx, f); err != nil {
		return role.Measured{}, err
	}
	if err := t.whileAgentsLive(ctx, do); err != nil {
		return role.Measured{}, err
	}
	return t.stopFabric(ctx)
}

// whileAgentsLive calls do with a context that ends when a process of the testbed
// dies: what goes through the switch, or to a host that does not ask by itself,
// would only time out, and blame another. The error is then that it died.
func (t *Testbed) whileAgentsLive(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	for _, c := range t.agents() {
		watch.Go(func() {
			select {
			case <-c.Done():
				cancel(c.died())
			case <-ctx.Done():
			}
		})
	}
	err := do(ctx)
	if err == nil {
		return nil
	}
	for _, c := range t.agents() {
		if died := c.died(); died != nil {
			return died // what do returns is its echo
		}
	}
	return err
}

// replay replays a trace, and has the lab's probes sent meanwhile. What services
// deliver is sampled that often; with zero, not at all.
func (t *Testbed) Replay(ctx context.Context, flows []trafficgen.Flow, goodput time.Duration, watch func(role.State)) (replayed, error) {
	w := t.lab.Workload
	r := role.Replay{
		Flows:       flows,
		Tagging:     t.lab.Tagging(),
		Dilation:    t.dilation,
		Connections: w.Connections,
		Fresh:       w.Connections == 0,
		Handshake:   w.Handshake,
		Stall:       stall,
		Goodput:     goodput,
	}
	run, err := t.hosts.start(ctx, r)
	if err != nil {
		return replayed{}, err
	}
	probing, err := t.startProbes(ctx, run.zero)
	if err != nil {
		return replayed{}, err
	}
	watched, err := t.startWatching(ctx, run.zero)
	if err != nil {
		return replayed{}, err
	}
	t.sight = sight{}
	err = run.follow(ctx, t.pause, func(s role.State) {
		t.sight.flows = append(t.sight.flows, s.Ended...)
		watch(s)
	})
	if err != nil {
		return replayed{}, err
	}
	out := replayed{zero: run.zero}
	if out.Flows, out.services, err = run.finish(ctx); err != nil {
		return replayed{}, err
	}
	if out.senders, err = watched.endWatching(ctx); err != nil {
		return replayed{}, err
	}
	if err := t.hosts.account(ctx, out.Flows); err != nil {
		return replayed{}, err
	}
	out.probes, err = probing.endProbes(ctx)
	return out, err
}

// pause is until when to leave a replay alone that goes on for that long. In virtual
// time each look costs as much as many packets do, and little time may pass in a
// second of wall time: it waits for a fiftieth of the time that has passed.
func (t *Testbed) pause(going time.Duration) time.Duration {
	if !t.virtual {
		return pollEvery
	}
	return min(max(going/50, time.Millisecond), 20*time.Millisecond)
}

// follow tells watch of the progress, with pauses, until the replay ends.
func (r *replaying) follow(ctx context.Context, pause func(going time.Duration) time.Duration, watch func(role.State)) error {
	begun := time.Now()
	for {
		s, err := r.progress(ctx)
		if err != nil {
			return err
		}
		watch(s)
		if s.Done {
			return nil
		}
		if err := sleep(ctx, pause(time.Since(begun))); err != nil {
			return err
		}
	}
}

// sleep waits, or returns why ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
