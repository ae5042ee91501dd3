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
)

// settle is the wall time in which closed connections take leave before the
// switch stops.
const settle = 50 * time.Millisecond

// Run replays a point and returns what was measured. watch is told of the
// replay's progress.
func (t *Testbed) Run(ctx context.Context, p backend.Point, watch func(backend.Progress)) (results.Point, error) {
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
		Programs: m.programs.programs,
		Figures:  m.programs.figures,
		Outputs:  m.programs.outputs,
		Counters: backend.Counters(m.sw.Ports, m.sw.Lost, m.hosts),
		Fidelity: t.judge(m),
	}
	out.Capture, out.Classes, out.Delays = m.sw.Capture, m.sw.Classes, m.sw.Delays
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

func (t *Testbed) measure(ctx context.Context, p backend.Point, watch func(backend.Progress)) (m measurement, err error) {
	clocks, err := t.compareClocks(ctx)
	if err != nil {
		return m, err
	}
	m.sw, err = t.WithSwitch(ctx, p, func(ctx context.Context) error {
		before, err := t.counters(ctx)
		if err != nil {
			return err
		}
		if m.Replayed, err = t.Replay(ctx, p, backend.GoodputEvery(t.lab, p.Flows), watch); err != nil {
			return err
		}
		used, err := t.usages(ctx)
		if err != nil {
			return err
		}
		for i, g := range t.grounds {
			used[i].Lab += m.programs.cpu[g.machine()]
		}
		m.cpu = busiest(m.idle, used)
		if err := sleep(ctx, settle); err != nil {
			return err
		}
		after, err := t.counters(ctx)
		m.hosts = t.hostCounts(before, after)
		m.kernel = sum(before, after)
		return err
	})
	if err != nil {
		return m, err
	}
	now, err := t.compareClocks(ctx)
	m.clocks = apart(clocks, now)
	return m, err
}

// WithSwitch runs the fabric of a point's scheme while do does its work. After
// an error the switch may still be running, and the testbed is good for nothing
// but being removed.
func (t *Testbed) WithSwitch(ctx context.Context, p backend.Point, do func(context.Context) error) (role.Measured, error) {
	spec, err := t.switchFabric(p.Scheme, p.Seed)
	if err != nil {
		return role.Measured{}, err
	}
	f := role.Fabric{Spec: spec, Dilation: t.dilation}
	if len(p.Flows)+len(t.lab.Programs) > 0 { // else nobody looks at more than the report
		f.Sample, f.Capture = backend.SampleEvery(t.lab, p.Flows, spec), backend.CaptureSpec(t.lab)
		f.Estimates, f.Delays = t.lab.Collect.Estimates, t.lab.Collect.Delays
	}
	return t.withFabric(ctx, f, do)
}

// withFabric is WithSwitch for any fabric of the lab's hosts.
func (t *Testbed) withFabric(ctx context.Context, f role.Fabric, do func(context.Context) error) (role.Measured, error) {
	if err := t.startFabric(ctx, f); err != nil {
		return role.Measured{}, err
	}
	if err := t.whileWhole(ctx, do); err != nil {
		return role.Measured{}, err
	}
	return t.stopFabric(ctx)
}

// whileWhole calls do with a context that ends when a process of the testbed dies, or a
// link is lost: what goes through the switch, or to a host that does not ask by itself,
// would only time out, and blame another. The error is then that it did.
func (t *Testbed) whileWhole(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	for _, p := range t.processes() {
		watch.Go(func() {
			select {
			case <-p.Done():
				cancel(p.died())
			case <-ctx.Done():
			}
		})
	}
	watch.Go(func() {
		select {
		case <-t.whole.gone():
			cancel(t.whole.err())
		case <-ctx.Done():
		}
	})
	err := do(ctx)
	if lost := t.whole.err(); lost != nil {
		return lost
	}
	if err == nil {
		return nil
	}
	// What a death breaks may be noticed before the death is.
	for deadline, last := time.After(deathNews), false; ; {
		for _, p := range t.processes() {
			if died := p.died(); died != nil {
				t.blamed = true
				return died // what do returns is its echo
			}
		}
		if last {
			return err
		}
		select {
		case <-time.After(deathNews / 20):
		case <-deadline:
			last = true
		case <-ctx.Done(): // by a death, or by who does not want to wait
			last = true
		}
	}
}

// deathNews is how long the news of a container's end may take.
const deathNews = 2 * time.Second

// counters reads the kernel's counters of every host.
func (t *Testbed) counters(ctx context.Context) ([]host.Counters, error) {
	all := make([]host.Counters, len(t.net.Hosts))
	return all, t.eachGround(func(_ int, g ground) error {
		some, err := g.counters(ctx)
		for i, c := range some {
			all[i] = c
		}
		return err
	})
}

// sum adds up over all hosts what was counted meanwhile.
func sum(before, after []host.Counters) host.Counters {
	var all host.Counters
	for i := range after {
		all = all.Add(after[i].Sub(before[i]))
	}
	return all
}

func (t *Testbed) hostCounts(before, after []host.Counters) []results.HostCount {
	counts := make([]results.HostCount, len(after))
	for i := range after {
		h := t.net.Hosts[i]
		d := after[i].Sub(before[i])
		counts[i] = results.HostCount{
			Host:        h.Name,
			Timeouts:    d.Timeouts,
			Retransmits: d.Retransmits,
			CEReceived:  d.CEPackets,
			ECEReceived: d.DeliveredCE,
		}
	}
	return counts
}
