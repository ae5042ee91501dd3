package testbed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/role"
	"aqmlab/results"
	"aqmlab/trafficgen/live"
)

// fleet is the processes that carry the traffic of a testbed's hosts: one for
// all of them, or one inside each.
type fleet []hostsProcess

// everyHost is what the only process of a fleet carries.
func everyHost(int) bool { return true }

// onlyHost is what the process inside a host carries.
func onlyHost(i int) func(int) bool { return func(host int) bool { return host == i } }

// serve opens the hosts' servers.
func (f fleet) serve(ctx context.Context, ends []role.End) error {
	return each(f, func(_ int, p hostsProcess) error {
		mine := slices.Clone(ends)
		for host := range mine {
			mine[host].Elsewhere = !p.carries(host)
		}
		return p.Serve(ctx, mine)
	})
}

// baseRTT measures the round-trip times between pairs of a sender and a
// receiver, one after another.
func (f fleet) baseRTT(ctx context.Context, pairs [][2]int) ([]role.RTT, error) {
	rtts := make([]role.RTT, len(pairs))
	for _, p := range f {
		var mine [][2]int
		var at []int
		for i, pair := range pairs {
			if p.carries(pair[0]) {
				mine, at = append(mine, pair), append(at, i)
			}
		}
		if len(mine) == 0 {
			continue
		}
		got, err := p.BaseRTT(ctx, mine)
		if err != nil {
			return nil, err
		}
		for i, rtt := range got {
			rtts[at[i]] = rtt
		}
	}
	return rtts, nil
}

// startProbes gives every probe to the process of the host that sends it, and
// returns the processes that send some.
func (f fleet) startProbes(ctx context.Context, all role.Probing) (fleet, error) {
	var sending fleet
	for _, p := range f {
		mine := all
		mine.Probes = nil
		for _, probe := range all.Probes {
			if p.carries(probe.From) {
				mine.Probes = append(mine.Probes, probe)
			}
		}
		if len(mine.Probes) == 0 {
			continue
		}
		mine.Zero = p.clock(all.Zero)
		if err := p.Probe(ctx, mine); err != nil {
			return nil, err
		}
		sending = append(sending, p)
	}
	return sending, nil
}

// endProbes ends the probes of processes that send some, and returns what they
// measured.
func (f fleet) endProbes(ctx context.Context) ([]results.ProbeSample, error) {
	shares, err := gather(ctx, f, hostsProcess.Probed)
	return slices.Concat(shares...), err
}

// startWatching has the senders of the hosts sampled.
func (f fleet) startWatching(ctx context.Context, w role.Watching) error {
	return each(f, func(_ int, p hostsProcess) error {
		mine := w
		mine.Zero = p.clock(w.Zero)
		return p.Watch(ctx, mine)
	})
}

// endWatching ends that, and returns the samples in the order of time.
func (f fleet) endWatching(ctx context.Context) ([]results.SenderSample, error) {
	shares, err := gather(ctx, f, hostsProcess.Watched)
	all := slices.Concat(shares...)
	slices.SortStableFunc(all, func(a, b results.SenderSample) int { return cmp.Compare(a.At, b.At) })
	return all, err
}

// account adds what the servers sent again for the flows of a replay that is over
// to what their clients did.
func (f fleet) account(ctx context.Context, flows []results.Flow) error {
	shares, err := gather(ctx, f, hostsProcess.Accounts)
	if err != nil {
		return err
	}
	byFlow := make(map[int64]live.Account)
	for _, a := range slices.Concat(shares...) {
		byFlow[a.Flow] = a
	}
	for i := range flows {
		r := &flows[i]
		a := byFlow[r.ID] // none where no request arrived: its server sent nothing
		r.Retransmits = plus(r.Retransmits, a.Retransmits)
		r.Timeouts = plus(r.Timeouts, a.Timeouts)
	}
	return nil
}

// plus is the sum of two counts, if both were made.
func plus(a, b int64) int64 {
	if a == results.Unknown || b == results.Unknown {
		return results.Unknown
	}
	return a + b
}

// helper is a process that works for a testbed, on this machine or on another.
type helper interface {
	role.Caller
	PID() int // zero for one on another machine
	// Done is closed when it has ended, and Err then says why it did on its own.
	Done() <-chan struct{}
	Err() error
	Stop(ctx context.Context) error
	Release() error
}

// process is a helper process of a testbed.
type process struct {
	helper
	name    string // for errors
	machine string // that it runs on; empty: this one
	// ahead is how much the CLOCK_MONOTONIC of its machine is ahead of that by which the
	// testbed tells time: its first machine's.
	ahead time.Duration
}

// died says which process ended on its own and why; nil while it runs.
func (p process) died() error {
	if err := p.Err(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// clock is a time of the testbed on the process's own clock.
func (p process) clock(at int64) int64 { return at + int64(p.ahead) }

// testbedTime is a time of the process's own clock, unless it is none.
func (p process) testbedTime(at int64) int64 {
	if at == 0 {
		return 0
	}
	return at - int64(p.ahead)
}

// switchProcess carries a switch, or all of them.
type switchProcess struct {
	process
	role.SwitchClient
	number int // of the switch
}

func newSwitchProcess(h helper, name string, number int) switchProcess {
	return switchProcess{process{helper: h, name: name}, role.SwitchClient{Process: h}, number}
}

// hostsProcess carries the traffic of hosts.
type hostsProcess struct {
	process
	role.HostsClient
	number  int // of the host, if it carries one
	carries func(host int) bool
}

// newHostProcess carries the traffic of one host, inside it.
func newHostProcess(h helper, name string, number int) hostsProcess {
	return hostsProcess{process{helper: h, name: "host " + name}, role.HostsClient{Process: h}, number, onlyHost(number)}
}

// each calls do for every one of some processes at once, waits, and joins their
// errors. That of a process that died is that it did, whatever was being done.
func each[P interface{ died() error }](all []P, do func(i int, p P) error) error {
	errs := make([]error, len(all))
	var calls sync.WaitGroup
	for i, p := range all {
		calls.Go(func() {
			if errs[i] = do(i, p); errors.Is(errs[i], agent.ErrDied) {
				errs[i] = cmp.Or(p.died(), errs[i])
			}
		})
	}
	calls.Wait()
	return errors.Join(errs...)
}

// gather asks all of some processes at once, and returns their replies.
func gather[P interface{ died() error }, R any](ctx context.Context, all []P, ask func(P, context.Context) (R, error)) ([]R, error) {
	replies := make([]R, len(all))
	return replies, each(all, func(i int, p P) (err error) {
		replies[i], err = ask(p, ctx)
		return err
	})
}
