package testbed

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/switch/fabric"
	"aqmlab/switch/wire"
	"aqmlab/trafficgen/live"
)

// The switches do what a lab's events say, at lab times. A host only has to send at the rate
// that its link has: otherwise what it sends too fast would wait unseen behind its link, or
// its link would have nothing to send. This process changes the hosts' token buckets, along
// the wall clock.

// events is the timeline of the lab's network.
func (t *Testbed) events() (fabric.Spec, error) { return t.lab.Fabric(t.lab.Baseline, 0) }

// eventLead is how much earlier than else a replay has to be announced, so that the switches
// know of its events in time.
func (t *Testbed) eventLead(spec fabric.Spec) time.Duration {
	if len(t.lab.Events) == 0 {
		return 0
	}
	const calls = 2 * wire.Notice // what telling all of them may take
	ahead := time.Duration(0)
	for _, l := range spec.Links {
		ahead = max(ahead, l.Delay) // a switch in virtual time runs ahead by less
	}
	return wire.Notice + calls + ahead
}

// beginEvents begins the lab's events, of a replay with that time zero on CLOCK_MONOTONIC.
// The function that it returns ends them, and leaves the hosts as they were before.
func (t *Testbed) beginEvents(ctx context.Context, spec fabric.Spec, zero int64) (end func() error, err error) {
	if len(t.lab.Events) == 0 {
		return func() error { return nil }, nil
	}
	if err := each(t.switches, func(_ int, p switchProcess) error { return p.Begin(ctx, zero) }); err != nil {
		return nil, err
	}
	start, err := host.WallTime(zero)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	all, done := t.rerates(spec), make(chan error, 1)
	go func() { done <- t.followRates(ctx, start, all) }()
	return func() error {
		cancel()
		return errors.Join(<-done, t.restoreRates(all))
	}, nil
}

// rerate is another rate of a host's link.
type rerate struct {
	at   time.Duration // wall time since the replay's time zero
	host int
	rate int64 // bits per second on the wall
}

// rerates are those of a timeline, in the order of time.
func (t *Testbed) rerates(spec fabric.Spec) []rerate {
	var all []rerate
	for i := range spec.Hosts {
		rate := spec.Uplink(i)
		for _, s := range spec.UplinkStates(i) {
			if s.Rate != rate {
				rate = s.Rate
				all = append(all, rerate{time.Duration(float64(s.At) * t.dilation), i, int64(float64(rate) / t.dilation)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b rerate) int { return cmp.Compare(a.at, b.at) })
	return all
}

// followRates makes the changes in time, until ctx ends. It does so on a thread of its own,
// which is as urgent as those of the hosts.
func (t *Testbed) followRates(ctx context.Context, start time.Time, all []rerate) error {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	if err := live.PreciseThread(); err != nil {
		return err
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), t.nice(hostsNice)) // else it is later
	for _, r := range all {
		switch err := live.SleepUntil(ctx, start.Add(r.at)); {
		case ctx.Err() != nil:
			return nil // the replay is over
		case err != nil:
			return err
		}
		if err := t.net.Rerate(r.host, t.plan, r.rate); err != nil {
			return err
		}
	}
	return nil
}

// restoreRates undoes them.
func (t *Testbed) restoreRates(all []rerate) error {
	var errs []error
	restored := map[int]bool{}
	for _, r := range all {
		if restored[r.host] {
			continue
		}
		restored[r.host] = true
		rate := t.plan.Uplink
		if len(t.plan.Uplinks) > 0 {
			rate = t.plan.Uplinks[r.host]
		}
		errs = append(errs, t.net.Rerate(r.host, t.plan, rate))
	}
	return errors.Join(errs...)
}
