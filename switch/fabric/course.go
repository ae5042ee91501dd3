package fabric

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/units"
)

// Timeline is how links and hosts change while a network runs. It begins when
// [Network.Begin] says so; until then, everything is as the rest of the spec has it.
type Timeline struct {
	Links []LinkCourse
	Hosts []HostCourse
	// Convergence is the time after which routes follow a link that goes down or comes up.
	Convergence time.Duration
}

// LinkCourse is how one direction of a link changes.
type LinkCourse struct {
	Link   int  // by its index in the spec
	Back   bool // the direction from B to A
	States []LinkState
}

// LinkState is what one direction of a link is like from a time on. A packet is sent by
// the state in which its transmission begins, and keeps to it. Packets keep their order:
// after a delay that becomes shorter, they wait for those that were sent before.
type LinkState struct {
	At       time.Duration // since the timeline began
	Rate     units.Rate
	Delay    time.Duration
	LossRate float64
	// Down is a link that carries nothing. It loses what is on it when it goes down, and
	// all that is sent until it is up again. Both directions are down at the same times.
	Down bool
}

// HostCourse is how a host changes.
type HostCourse struct {
	Host   int // by its index in the spec
	States []HostState
}

// HostState is what a host is like from a time on.
type HostState struct {
	At time.Duration // since the timeline began
	// Delays are as those of [Host], of which there are as many, or one for all packets.
	Delays []time.Duration
}

// Downtime is how long links are down in all that come up again: a bound of the time in
// which nothing may arrive.
func (t Timeline) Downtime() time.Duration {
	var sum time.Duration
	for _, c := range t.Links {
		all := changes(c.States)
		for i := 1; i < len(all) && !c.Back; i += 2 {
			sum += all[i].at - all[i-1].at
		}
	}
	return sum
}

// states are those of the direction of links with that number: two for each link, from
// A to B first.
func (t Timeline) states(number int) []LinkState {
	for _, c := range t.Links {
		if c.Link == number/2 && c.Back == (number%2 == 1) {
			return c.States
		}
	}
	return nil
}

// Most is a link of that number with the largest rate and delay that it ever has.
func (t Timeline) Most(number int, l Link) Link {
	for _, states := range [][]LinkState{t.states(2 * number), t.states(2*number + 1)} {
		for _, s := range states {
			l.Rate, l.Delay = max(l.Rate, s.Rate), max(l.Delay, s.Delay)
		}
	}
	return l
}

// ofHost are the states of a host.
func (t Timeline) ofHost(host int) []HostState {
	for _, c := range t.Hosts {
		if c.Host == host {
			return c.States
		}
	}
	return nil
}

// check looks for what no network can do.
func (t Timeline) check(spec Spec) error {
	var errs []error
	for _, c := range t.Links {
		if c.Link < 0 || c.Link >= len(spec.Links) {
			return fmt.Errorf("timeline: no link has the number %d", c.Link)
		}
		l := spec.Links[c.Link]
		before := time.Duration(0)
		for _, s := range c.States {
			if s.At < before || s.Rate <= 0 || s.Delay < 0 || !(s.LossRate >= 0 && s.LossRate < 1) {
				errs = append(errs, fmt.Errorf("timeline: link %s to %s at %v: rate %v must be above zero, delay %v not below, loss rate %v from 0 to below 1, and no state before another", l.A, l.B, s.At, s.Rate, s.Delay, s.LossRate))
			}
			before = s.At
		}
	}
	for i, l := range spec.Links {
		if !slices.Equal(changes(t.states(2*i)), changes(t.states(2*i+1))) {
			errs = append(errs, fmt.Errorf("timeline: link %s to %s: its directions are down at different times", l.A, l.B))
		}
	}
	if t.Convergence < 0 {
		errs = append(errs, fmt.Errorf("timeline: convergence %v is below zero", t.Convergence))
	}
	return errors.Join(append(errs, t.checkHosts(spec))...)
}

func (t Timeline) checkHosts(spec Spec) error {
	for _, c := range t.Hosts {
		if c.Host < 0 || c.Host >= len(spec.Hosts) {
			return fmt.Errorf("timeline: no host has the number %d", c.Host)
		}
		h := spec.Hosts[c.Host]
		before := time.Duration(0)
		for _, s := range c.States {
			if n := len(s.Delays); s.At < before || n == 0 || n != 1 && n != len(h.Delays) || slices.Min(s.Delays) < 0 {
				return fmt.Errorf("timeline: host %s at %v: delays %v: want one or %d, none below zero, and no state before another", h.Name, s.At, s.Delays, len(h.Delays))
			}
			before = s.At
		}
	}
	return nil
}

// change is a link that goes down or comes up.
type change struct {
	at   time.Duration
	down bool
}

// changes lists when a direction of a link goes down and comes up.
func changes(states []LinkState) []change {
	var all []change
	down := false
	for _, s := range states {
		if s.Down != down {
			down = s.Down
			all = append(all, change{s.At, down})
		}
	}
	return all
}

// course is one direction of a link as time goes on.
type course struct {
	LinkState             // that holds
	ahead     []LinkState // those that follow, in lab time
}

// at moves on to the state that holds at a lab time, which is not before the last one
// that it was asked for. It reports whether that is another state.
func (c *course) at(now time.Duration) bool {
	passed := 0
	for passed < len(c.ahead) && c.ahead[passed].At <= now {
		passed++
	}
	if passed == 0 {
		return false
	}
	c.LinkState, c.ahead = c.ahead[passed-1], c.ahead[passed:]
	return true
}

// cuts tells whether the link is down, or goes down before due: what is on it then does
// not arrive.
func (c *course) cuts(due time.Duration) bool {
	if c.Down {
		return true
	}
	for _, s := range c.ahead {
		if s.At >= due {
			break
		}
		if s.Down {
			return true
		}
	}
	return false
}

// shifted are states in lab time, of a timeline that began at zero.
func shifted(states []LinkState, zero time.Duration) []LinkState {
	all := slices.Clone(states)
	for i := range all {
		all[i].At += zero
	}
	return all
}
