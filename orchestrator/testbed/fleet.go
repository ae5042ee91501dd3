package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// crew is a process that carries the traffic of hosts.
type crew struct {
	*agent.Process
	name    string // for errors
	carries func(host int) bool
}

// died says which process ended on its own and why; nil while it runs.
func (c crew) died() error {
	if err := c.Err(); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// fleet is the processes that carry the traffic of a testbed's hosts: one for
// all of them, or one inside each.
type fleet []crew

// everyHost is what the only crew of a fleet carries.
func everyHost(int) bool { return true }

// onlyHost is what the crew inside a host carries.
func onlyHost(i int) func(int) bool { return func(host int) bool { return host == i } }

// each calls do for every crew at once, waits, and joins their errors. That of a
// crew that died is that it did, whatever was being done.
func (f fleet) each(do func(i int, c crew) error) error {
	errs := make([]error, len(f))
	var all sync.WaitGroup
	for i, c := range f {
		all.Go(func() {
			if errs[i] = do(i, c); errors.Is(errs[i], agent.ErrDied) {
				errs[i] = cmp.Or(c.died(), errs[i])
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// serve opens the hosts' servers.
func (f fleet) serve(ctx context.Context, ends []role.End) error {
	return f.each(func(_ int, c crew) error {
		mine := make([]role.End, len(ends))
		for host, end := range ends {
			mine[host] = end
			mine[host].Elsewhere = !c.carries(host)
		}
		return c.Call(ctx, "Serve", mine, &agent.Nothing{})
	})
}

// baseRTT measures the round-trip times between pairs of a sender and a
// receiver, one after another.
func (f fleet) baseRTT(ctx context.Context, pairs [][2]int) ([]role.RTT, error) {
	rtts := make([]role.RTT, len(pairs))
	for _, c := range f {
		var mine [][2]int
		var at []int
		for i, p := range pairs {
			if c.carries(p[0]) {
				mine, at = append(mine, p), append(at, i)
			}
		}
		if len(mine) == 0 {
			continue
		}
		var got []role.RTT
		if err := c.Call(ctx, "BaseRTT", mine, &got); err != nil {
			return nil, err
		}
		for i, rtt := range got {
			rtts[at[i]] = rtt
		}
	}
	return rtts, nil
}

// The time between the call that starts a replay and its trace's time zero: what
// telling the first crew takes at most, and each further one.
const (
	lead     = 20 * time.Millisecond
	leadEach = 2 * time.Millisecond
)

// replaying is a replay that is going on.
type replaying struct {
	fleet fleet // the crews with flows of the trace
	owner []int // the crew, by its index, that has each flow
	zero  int64 // the trace's time zero, on CLOCK_MONOTONIC
}

// start gives every flow to the crew of its client, has all connections opened,
// and starts the replay.
func (f fleet) start(ctx context.Context, r role.Replay) (*replaying, error) {
	run := &replaying{owner: make([]int, len(r.Flows))}
	var shares [][]trafficgen.Flow
	for _, c := range f {
		var share []trafficgen.Flow
		for i, flow := range r.Flows {
			if c.carries(flow.Client) {
				share, run.owner[i] = append(share, flow), len(run.fleet)
			}
		}
		if len(share) > 0 {
			run.fleet, shares = append(run.fleet, c), append(shares, share)
		}
	}
	err := run.fleet.each(func(i int, c crew) error {
		mine := r
		mine.Flows = shares[i]
		return c.Call(ctx, "Open", mine, &agent.Nothing{})
	})
	if err != nil {
		return nil, err
	}
	now, err := host.Monotonic()
	if err != nil {
		return nil, err
	}
	run.zero = now + int64(lead) + int64(leadEach)*int64(len(run.fleet)-1)
	return run, run.fleet.each(func(_ int, c crew) error { return c.Call(ctx, "Start", run.zero, &agent.Nothing{}) })
}

// progress says how far the replay is in all.
func (r *replaying) progress(ctx context.Context) (role.State, error) {
	states := make([]role.State, len(r.fleet))
	err := r.fleet.each(func(i int, c crew) error { return c.Call(ctx, "Progress", agent.Nothing{}, &states[i]) })
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
	shares := make([]role.Replayed, len(r.fleet))
	err := r.fleet.each(func(i int, c crew) error { return c.Call(ctx, "Finish", agent.Nothing{}, &shares[i]) })
	if err != nil {
		return nil, nil, err
	}
	records := make([]results.Flow, len(r.owner))
	for i, crew := range r.owner {
		mine := &shares[crew].Flows
		records[i], *mine = (*mine)[0], (*mine)[1:]
	}
	var services []results.ServiceSample
	for _, s := range shares {
		services = meter.Join(services, s.Services)
	}
	return records, services, nil
}
