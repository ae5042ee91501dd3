package orchestrator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"aqmlab/collectors"
	"aqmlab/labs"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/switch/fabric"
	"aqmlab/trafficgen"
	"aqmlab/units"
)

// point is one replay of a trace under one scheme.
type point struct {
	scheme string
	load   float64
	seed   uint64
	flows  []trafficgen.Flow
}

const (
	// pollEvery is how often the progress of a replay is looked at.
	pollEvery = 100 * time.Millisecond
	// stall is the wall time without a byte for any flow under way after which
	// a replay is given up: several retransmission timeouts of a second each.
	stall = 15 * time.Second
	// settle is the wall time in which closed connections take leave before the
	// switch stops.
	settle = 50 * time.Millisecond
	// samples is about how many samples of a queue a point yields, and maxSamples
	// that of all its queues together: a large network is sampled more coarsely.
	samples    = 2000
	maxSamples = 200_000
	// shortest is the least time between two samples that no lab asked for.
	shortest = 10 * time.Microsecond
)

// run replays a point and returns what was measured. watch is told of the
// replay's progress.
func (t *Testbed) run(ctx context.Context, p point, watch func(role.State)) (results.Point, error) {
	m, err := t.measure(ctx, p, watch)
	if err != nil {
		return results.Point{}, fmt.Errorf("running %s at load %v, seed %d: %w", p.scheme, p.load, p.seed, err)
	}
	zero := time.Duration(float64(m.zero-m.sw.Start) / t.dilation)
	out := results.Point{
		Scheme:   p.scheme,
		Load:     p.load,
		Seed:     p.seed,
		Flows:    m.flows,
		Probes:   m.probes,
		Senders:  m.senders,
		Services: m.services,
		Ports:    portCounts(m.sw.Ports),
		Ingress:  ingressCounts(m.sw.Ports),
		Pauses:   pauseCounts(m.sw.Ports),
		Links:    linkCounts(m.sw.Lost),
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
	cpu   float64 // busy share of the hosts' CPUs
	// kernel adds up what the hosts' kernels counted.
	kernel host.Counters
}

func (t *Testbed) measure(ctx context.Context, p point, watch func(role.State)) (m measurement, err error) {
	m.sw, err = t.withSwitch(ctx, p, func(ctx context.Context) error {
		before, err := t.counters()
		if err != nil {
			return err
		}
		cpuBefore, err := collectors.ReadCPUs(t.cpus.hosts)
		if err != nil {
			return err
		}
		if m.replayed, err = t.replay(ctx, p.flows, goodputEvery(t.lab, p.flows), watch); err != nil {
			return err
		}
		cpuAfter, err := collectors.ReadCPUs(t.cpus.hosts)
		if err != nil {
			return err
		}
		m.cpu = cpuAfter.Share(cpuBefore)
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
func (t *Testbed) withSwitch(ctx context.Context, p point, do func(context.Context) error) (role.Measured, error) {
	spec, err := t.ready(p.scheme, p.seed)
	if err != nil {
		return role.Measured{}, err
	}
	f := role.Fabric{Spec: spec, Dilation: t.dilation}
	if len(p.flows) > 0 { // else nobody looks at more than the report
		f.Sample, f.Capture = sampleEvery(t.lab, p.flows, spec), captureSpec(t.lab)
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
func (t *Testbed) replay(ctx context.Context, flows []trafficgen.Flow, goodput time.Duration, watch func(role.State)) (replayed, error) {
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
	if out.flows, out.services, err = run.finish(ctx); err != nil {
		return replayed{}, err
	}
	if out.senders, err = watched.endWatching(ctx); err != nil {
		return replayed{}, err
	}
	if err := t.hosts.account(ctx, out.flows); err != nil {
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

// sampleEvery is the lab's own interval between the samples of queues, or else
// spreads them over a trace.
func sampleEvery(lab *labs.Lab, flows []trafficgen.Flow, spec fabric.Spec) time.Duration {
	if lab.Collect.Queues > 0 || len(flows) == 0 {
		return lab.Collect.Queues
	}
	queues := (2*len(spec.Links) - len(spec.Hosts)) * spec.Port.Queues
	n := min(samples, max(1, maxSamples/max(1, queues)))
	return max(span(flows, lab.Topology.Rate)/time.Duration(n), shortest)
}

// span is the least lab time that a trace takes on links of a rate: to the last
// thing that it plans, or for all that a host has to receive or send.
func span(flows []trafficgen.Flow, rate units.Rate) time.Duration {
	in, out := map[int]int64{}, map[int]int64{}
	var most int64
	for _, f := range flows {
		if f.Stop > 0 { // it ends then, whatever its size
			continue
		}
		in[f.Client] += f.Bytes
		out[f.Server] += f.Bytes
		most = max(most, in[f.Client], out[f.Server])
	}
	return max(trafficgen.End(flows), rate.Time(int(most)))
}

// goodputEvery is the time between two samples of what services deliver: that of
// queues, of which there are more the larger a network is.
func goodputEvery(lab *labs.Lab, flows []trafficgen.Flow) time.Duration {
	if lab.Collect.Queues > 0 {
		return lab.Collect.Queues
	}
	return max(span(flows, lab.Topology.Rate)/samples, shortest)
}

// captureSpec is what the lab wants to be captured, or nil.
func captureSpec(lab *labs.Lab) *collectors.CaptureSpec {
	c := lab.Capture
	if c.Format == "" {
		return nil
	}
	return &collectors.CaptureSpec{Ports: c.Ports, Snap: int(c.Snap), Size: int(c.Size)}
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

// ingressCounts lists the ingress stages that had something to hold.
func ingressCounts(ports []fabric.PortCount) []results.IngressCount {
	var counts []results.IngressCount
	for _, p := range ports {
		if c := p.Ingress; c.Held > 0 {
			counts = append(counts, results.IngressCount{
				Switch:      p.Switch,
				Port:        p.Far,
				Held:        c.Held,
				Released:    c.Released,
				MarkedECE:   c.MarkedECE,
				PeakPackets: int64(c.PeakPackets),
			})
		}
	}
	return counts
}

// pauseCounts lists what flow control did to the ports' far ends, where it is on
// and something came from them.
func pauseCounts(ports []fabric.PortCount) []results.PauseCount {
	var counts []results.PauseCount
	for _, p := range ports {
		if c := p.Pauses; c.PeakBytes > 0 {
			counts = append(counts, results.PauseCount{
				Switch: p.Switch, Port: p.Far, Stops: c.Stops, Stopped: c.Stopped, PeakBytes: int64(c.PeakBytes),
			})
		}
	}
	return counts
}

// linkCounts lists the links that may lose packets.
func linkCounts(lost []fabric.LossCount) []results.LinkCount {
	var counts []results.LinkCount
	for _, l := range lost {
		counts = append(counts, results.LinkCount{From: l.From, To: l.To, Lost: l.Packets})
	}
	return counts
}

func portCounts(ports []fabric.PortCount) []results.PortCount {
	var counts []results.PortCount
	for _, p := range ports {
		for q, c := range p.Queues {
			counts = append(counts, results.PortCount{
				Switch:      p.Switch,
				Port:        p.Far,
				Queue:       q,
				Enqueued:    c.Enqueued,
				Sent:        c.Sent,
				Marked:      c.Marked,
				DropsFull:   c.DropsFull,
				DropsScheme: c.DropsScheme,
				SentBytes:   c.SentBytes,
				PeakBytes:   int64(c.PeakBytes),
			})
		}
	}
	return counts
}

// Limits beyond which a run is labelled low-fidelity.
const (
	maxLateShare = 0.10 // p99 lateness of deliveries over the base RTT
	minHeadroom  = 0.05 // idle share of the busiest CPUs
)

// judge says how exactly the wall clock kept lab time.
func (t *Testbed) judge(m measurement) results.Fidelity {
	f := results.Fidelity{
		Label:       results.FidelityOK,
		LatenessP50: m.sw.LatenessP50,
		LatenessP99: m.sw.LatenessP99,
		LatenessMax: m.sw.LatenessMax,
		EdgeDrops:   m.sw.EdgeDrops,
		Clamped:     m.sw.Clamped,
		CPUHeadroom: 1 - max(m.sw.Busy, m.cpu),
	}
	if t.lab.RTT.Min > 0 {
		f.ShareOfRTT = float64(f.LatenessP99) / float64(t.lab.RTT.Min)
	}
	if f.ShareOfRTT > maxLateShare {
		f.Reasons = append(f.Reasons, fmt.Sprintf("the p99 lateness of deliveries, %v, is %.0f %% of the base RTT", f.LatenessP99.Round(100*time.Nanosecond), 100*f.ShareOfRTT))
	}
	if f.EdgeDrops > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%d frames were lost between kernel and switch (a larger net.core.netdev_max_backlog gives stalled CPUs more time)", f.EdgeDrops))
	}
	if m.kernel.DroppedFrames > 0 {
		f.EdgeDrops += m.kernel.DroppedFrames
		f.Reasons = append(f.Reasons, fmt.Sprintf("%d frames were lost by the hosts' devices", m.kernel.DroppedFrames))
	}
	if m.kernel.ChecksumErrors > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%d packets reached their host with a wrong checksum", m.kernel.ChecksumErrors))
	}
	if f.CPUHeadroom < minHeadroom {
		f.Reasons = append(f.Reasons, fmt.Sprintf("the CPUs were busy %.0f %% of the time", 100*(1-f.CPUHeadroom)))
	}
	if len(f.Reasons) > 0 {
		f.Label = results.FidelityLow
	}
	return f
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
