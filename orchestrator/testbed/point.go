package testbed

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"aqmlab/collectors"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
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

func (t *Testbed) measure(ctx context.Context, p backend.Point, watch func(backend.Progress)) (m measurement, err error) {
	m.sw, err = t.WithSwitch(ctx, p, func(ctx context.Context) error {
		before, err := t.counters()
		if err != nil {
			return err
		}
		idle, err := t.used()
		if err != nil {
			return err
		}
		if m.Replayed, err = t.Replay(ctx, p, backend.GoodputEvery(t.lab, p.Flows), watch); err != nil {
			return err
		}
		used, err := t.used()
		if err != nil {
			return err
		}
		used.lab += m.programs.cpu
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
		f.Estimates = t.lab.Collect.Estimates
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
	for _, p := range t.processes() {
		if died := p.died(); died != nil {
			t.blamed = true
			return died // what do returns is its echo
		}
	}
	return err
}

// counters reads the kernel's counters of every host.
func (t *Testbed) counters() ([]host.Counters, error) {
	all := make([]host.Counters, len(t.net.Hosts))
	for i, h := range t.net.Hosts {
		var err error
		if all[i], err = netns.Counters(h.Namespace); err != nil {
			return nil, fmt.Errorf("reading the counters of %s: %w", h.Name, err)
		}
	}
	return all, nil
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

// usage is what has been done so far on the hosts' CPUs. What other programs do
// there is no part of it: it makes a lab late, which is measured, and a dilation is
// no remedy for it.
type usage struct {
	lab   time.Duration // by the lab: its hosts' processes, and the kernel as packets come in
	total time.Duration // that there was
}

// used reads the usage. In virtual time nobody needs it, and to read takes time.
func (t *Testbed) used() (usage, error) {
	if t.virtual {
		return usage{}, nil
	}
	cpus, err := host.ReadCPUs(t.cpus.Hosts)
	if err != nil {
		return usage{}, err
	}
	u := usage{lab: time.Duration(cpus.Interrupts) * host.Tick, total: time.Duration(cpus.Total) * host.Tick}
	for _, c := range t.hosts {
		p, err := host.ReadProcess(c.PID())
		if err != nil {
			return usage{}, fmt.Errorf("reading what %s uses: %w", c.name, err)
		}
		u.lab += p.CPU
	}
	return u, nil
}

// since is the share of the CPUs that the lab has used since before.
func (u usage) since(before usage) float64 {
	if u.total <= before.total {
		return 0
	}
	return min(1, float64(u.lab-before.lab)/float64(u.total-before.total))
}

// watchOthers begins to watch for other programs that use the CPUs. The function
// that it returns says which have, see [host.Load.Others]; in virtual time they do
// not matter.
func (t *Testbed) watchOthers() (func() (string, error), error) {
	if t.virtual {
		return func() (string, error) { return "", nil }, nil
	}
	before, err := host.ReadLoad()
	return func() (string, error) {
		lab := []int{os.Getpid()}
		for _, c := range t.processes() {
			lab = append(lab, c.PID())
		}
		now, err := host.ReadLoad()
		return now.Others(before, lab...), err
	}, err
}
