package testbed

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

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
	if err := each(t.switches, func(_ int, p switchProcess) error { return p.Begin(ctx, p.clock(zero)) }); err != nil {
		return nil, err
	}
	all := t.rerates(spec)
	var ends []func() error
	end = func() error {
		var errs []error
		for _, e := range ends {
			errs = append(errs, e())
		}
		return errors.Join(errs...)
	}
	err = t.eachGround(func(i int, g ground) error {
		e, err := g.followRates(ctx, zero+int64(t.ahead[i]), all)
		if err == nil {
			ends = append(ends, e)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}

// rerates are those of a timeline, in the order of time.
func (t *Testbed) rerates(spec fabric.Spec) []Rerate {
	if spec.HostPorts {
		return nil // nothing holds hosts back
	}
	var all []Rerate
	for i := range spec.Hosts {
		rate := spec.Uplink(i)
		for _, s := range spec.UplinkStates(i) {
			if s.Rate != rate {
				rate = s.Rate
				all = append(all, Rerate{time.Duration(float64(s.At) * t.dilation), i, int64(float64(rate) / t.dilation)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Rerate) int { return cmp.Compare(a.At, b.At) })
	return all
}

// makeRates makes the changes in time, until ctx ends. It does so on a thread of its own,
// which is as urgent as those of the hosts.
func (t *Testbed) makeRates(ctx context.Context, start time.Time, all []Rerate) error {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	if err := live.PreciseThread(); err != nil {
		return err
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), t.nice(hostsNice)) // else it is later
	for _, r := range all {
		switch err := live.SleepUntil(ctx, start.Add(r.At)); {
		case ctx.Err() != nil:
			return nil // the replay is over
		case err != nil:
			return err
		}
		if err := t.net.Rerate(r.Host, t.plan, r.Rate); err != nil {
			return err
		}
	}
	return nil
}

// restoreRates undoes them.
func (t *Testbed) restoreRates(all []Rerate) error {
	var errs []error
	restored := map[int]bool{}
	for _, r := range all {
		if restored[r.Host] {
			continue
		}
		restored[r.Host] = true
		rate := t.plan.Uplink
		if len(t.plan.Uplinks) > 0 {
			rate = t.plan.Uplinks[r.Host]
		}
		errs = append(errs, t.net.Rerate(r.Host, t.plan, rate))
	}
	return errors.Join(errs...)
}
