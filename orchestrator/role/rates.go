package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
)

// Rates are those at which hosts are to send, along the wall clock.
type Rates struct {
	Zero  int64 // their time zero, of CLOCK_MONOTONIC in nanoseconds; it may be over
	Hosts []HostRates
}

// HostRates are those of a host.
type HostRates struct {
	Namespace string // empty: that of the process
	MTU       int
	Steps     []RateStep // one or more, in the order of time; the first one holds before it, too
}

// RateStep is the rate from a time on.
type RateStep struct {
	At   time.Duration // wall time since the time zero
	Rate int64         // bits per second on the wall
}

// set has the host send at the rate of a time.
func (h HostRates) set(at time.Duration) error {
	rate := h.Steps[0].Rate
	for _, s := range h.Steps {
		if s.At <= at {
			rate = s.Rate
		}
	}
	return netns.Rerate(h.Namespace, h.MTU, rate)
}

// uplinks has hosts send at the rates that their links have. It is a part of services
// whose processes stay when who called them has ended.
type uplinks struct {
	following sync.Mutex
	end       func() // of what is followed; nil: nothing is
}

// FollowRates has hosts send at rates, in place of those that were followed before. When
// it returns they send at those of the moment.
func (u *uplinks) FollowRates(r Rates, _ *agent.Nothing) error {
	u.following.Lock()
	defer u.following.Unlock()
	u.endRates()
	zero, err := host.WallTime(r.Zero)
	if err != nil {
		return err
	}
	type change struct {
		at time.Duration
		HostRates
	}
	now := time.Since(zero)
	var errs []error
	var ahead []change
	for _, h := range r.Hosts {
		if len(h.Steps) == 0 {
			return errors.New("a host without a rate")
		}
		errs = append(errs, h.set(now))
		for _, s := range h.Steps {
			if s.At > now {
				ahead = append(ahead, change{s.At, h})
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	slices.SortStableFunc(ahead, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, c := range ahead {
			select {
			case <-time.After(time.Until(zero.Add(c.at))):
			case <-ctx.Done():
				return
			}
			if err := c.set(c.at); err != nil {
				fmt.Fprintln(os.Stderr, "aqmlab: following the rates of links:", err) // the caller may have ended
			}
		}
	}()
	u.end = func() { cancel(); <-done }
	return nil
}

// endRates leaves hosts with the rates that they have. The caller holds the lock.
func (u *uplinks) endRates() {
	if u.end != nil {
		u.end()
		u.end = nil
	}
}

// closeRates is endRates at the end of a service.
func (u *uplinks) closeRates() {
	u.following.Lock()
	defer u.following.Unlock()
	u.endRates()
}
