package testbed

import (
	"context"
	"errors"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
	"aqmlab/trafficgen/traffic"
)

const (
	// pollEvery is how often the progress of a replay is looked at.
	pollEvery = 100 * time.Millisecond
	// stall is the wall time without a byte for any flow under way after which
	// a replay is given up: several retransmission timeouts of a second each. The time in
	// which links are down adds to it, twice, because timeouts double meanwhile.
	stall = 15 * time.Second
)

// Replay replays the trace of a point, and has the lab's programs run and its probes
// sent meanwhile. What services deliver is sampled that often; with zero, not at all.
func (t *Testbed) Replay(ctx context.Context, p backend.Point, goodput time.Duration, watch func(backend.Progress)) (Replayed, error) {
	spec, err := t.events()
	if err != nil {
		return Replayed{}, err
	}
	running, err := t.launchPrograms(ctx, p.Coord)
	if err != nil {
		return Replayed{}, err
	}
	w := t.lab.Workload
	r := live.Config{
		Flows:       p.Flows,
		Tagging:     t.lab.Tagging(),
		Dilation:    t.dilation,
		Connections: w.Connections,
		Datagram:    t.lab.Host.Datagram(),
		Fresh:       w.Connections == 0,
		Handshake:   w.Handshake,
		Stall:       stall + time.Duration(2*float64(spec.Timeline.Downtime())*t.dilation),
		Goodput:     goodput,
		Expect:      t.expect(),
		Awake:       t.virtual && !t.hasSleepers(),
	}
	run, err := t.hosts.start(ctx, r, t.lead+t.eventLead(spec), t.grounds[0].clock)
	if err != nil {
		return Replayed{}, err
	}
	run.programs = running
	// To open thousands of connections takes what CPU time there is, and says nothing about
	// the replay.
	idle, err := t.usages(ctx)
	if err != nil {
		return Replayed{}, err
	}
	endEvents, err := t.beginEvents(ctx, spec, run.zero)
	if err != nil {
		return Replayed{}, err
	}
	out, err := t.replay(ctx, run, watch)
	out.idle = idle
	return out, errors.Join(err, endEvents())
}

// hasSleepers tells whether the hosts' process has threads that wait in the kernel beside
// the one that starts flows: those of programs, of probes, and of what is sampled.
func (t *Testbed) hasSleepers() bool {
	return len(t.lab.Programs) > 0 || t.lab.Probe.From != "" || t.lab.Collect.Senders > 0
}

// replay follows a replay to its end.
func (t *Testbed) replay(ctx context.Context, run *replaying, watch func(backend.Progress)) (Replayed, error) {
	if err := run.programs.begin(ctx, run.zero); err != nil {
		return Replayed{}, err
	}
	probing, err := t.startProbes(ctx, run.zero)
	if err != nil {
		return Replayed{}, err
	}
	watched, err := t.startWatching(ctx, run.zero)
	if err != nil {
		return Replayed{}, err
	}
	t.seen = observed{}
	err = run.follow(ctx, t.pause, func(s role.State) {
		t.seen.flows = append(t.seen.flows, s.Ended...)
		watch(backend.Progress{Completed: s.Completed, Failed: s.Failed, Look: func() (results.Seen, error) { return t.look(ctx) }})
	})
	if err != nil {
		return Replayed{}, err
	}
	out := Replayed{zero: run.zero}
	if out.Flows, out.services, err = run.finish(ctx); err != nil {
		return Replayed{}, err
	}
	if out.senders, err = watched.endWatching(ctx); err != nil {
		return Replayed{}, err
	}
	if err := t.hosts.account(ctx, out.Flows); err != nil {
		return Replayed{}, err
	}
	if out.probes, err = probing.endProbes(ctx); err != nil {
		return Replayed{}, err
	}
	out.programs, err = t.finishPrograms(ctx, run.programs, run.zero)
	return out, err
}

// startProbes has the lab's probes sent beside a replay with that time zero. It
// returns the processes that send some.
func (t *Testbed) startProbes(ctx context.Context, zero int64) (fleet, error) {
	probes, err := t.lab.Probes()
	if err != nil {
		return nil, err
	}
	patience := time.Duration(float64(t.lab.ProbePatience()) * t.dilation)
	probing := live.ProbeConfig{Probes: probes, Dilation: t.dilation, Patience: patience}
	return t.hosts.startProbes(ctx, role.Probing{ProbeConfig: probing, Zero: zero})
}

// startWatching has the senders of a replay with that time zero sampled, if the
// lab asks for it. It returns the processes that do.
func (t *Testbed) startWatching(ctx context.Context, zero int64) (fleet, error) {
	every := t.lab.Collect.Senders
	if every == 0 {
		return nil, nil
	}
	return t.hosts, t.hosts.startWatching(ctx, role.Watching{Every: every, Dilation: t.dilation, Zero: zero, States: t.statesShared})
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
		left, err := r.programs.left(ctx)
		if err != nil {
			return err
		}
		watch(s)
		if s.Done && left == 0 {
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

// The time between the call that starts a replay and its trace's time zero: what
// telling the first process takes at most, and each further one.
const (
	lead     = 20 * time.Millisecond
	leadEach = 2 * time.Millisecond
)

// replaying is a replay that is going on.
type replaying struct {
	fleet fleet // the processes with flows of the trace
	owner []int // the process, by its index, that has each flow
	zero  int64 // the trace's time zero, on CLOCK_MONOTONIC

	programs *programs // that run beside
}

// start gives every flow to the process of its client, has all connections opened,
// and starts the replay, that much later than it could.
func (f fleet) start(ctx context.Context, r live.Config, later time.Duration, clock func(context.Context) (int64, error)) (*replaying, error) {
	run := &replaying{owner: make([]int, len(r.Flows))}
	var shares [][]traffic.Flow
	for _, p := range f {
		var share []traffic.Flow
		for i, flow := range r.Flows {
			if p.carries(flow.Client) {
				share, run.owner[i] = append(share, flow), len(run.fleet)
			}
		}
		if len(share) > 0 {
			run.fleet, shares = append(run.fleet, p), append(shares, share)
		}
	}
	err := each(run.fleet, func(i int, p hostsProcess) error {
		mine := r
		mine.Flows = shares[i]
		return p.Open(ctx, mine)
	})
	if err != nil {
		return nil, err
	}
	now, err := clock(ctx)
	if err != nil {
		return nil, err
	}
	run.zero = now + int64(lead+later) + int64(leadEach)*int64(len(run.fleet)-1)
	return run, each(run.fleet, func(_ int, p hostsProcess) error { return p.Start(ctx, p.clock(run.zero)) })
}

// progress says how far the replay is in all.
func (r *replaying) progress(ctx context.Context) (role.State, error) {
	states, err := gather(ctx, r.fleet, hostsProcess.Progress)
	all := role.State{Done: true}
	for _, s := range states {
		all.Started += s.Started
		all.Completed += s.Completed
		all.Failed += s.Failed
		all.Bytes += s.Bytes
		all.Ended = append(all.Ended, s.Ended...)
		all.Done = all.Done && s.Done
	}
	return all, err
}

// finish returns the records of the trace, in its order, and what its services
// delivered.
func (r *replaying) finish(ctx context.Context) ([]results.Flow, []results.ServiceSample, error) {
	shares, err := gather(ctx, r.fleet, hostsProcess.Finish)
	if err != nil {
		return nil, nil, err
	}
	records := make([]results.Flow, len(r.owner))
	for i, owner := range r.owner {
		mine := &shares[owner].Flows
		records[i], *mine = (*mine)[0], (*mine)[1:]
	}
	var services []results.ServiceSample
	for _, s := range shares {
		services = meter.Join(services, s.Services)
	}
	return records, services, nil
}
