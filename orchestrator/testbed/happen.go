package testbed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/fabric"
	"aqmlab/switch/wire"
)

// Happen makes an event of the words happen, and returns when it has, or with "for" when
// it is over. When ctx ends before, so does the event. by is what errors call the words.
func (l *Live) Happen(ctx context.Context, by string, words []string) error {
	var e labs.Event
	err := l.amend(ctx, func(info *Info) (err error) {
		e, err = l.begin(ctx, info, by, words)
		return err
	})
	if err != nil {
		return err
	}
	whole := context.WithoutCancel(ctx) // it has begun
	if err := errors.Join(l.await(whole, e.At), l.rerate(l.Info, e.At)); err != nil || e.For == 0 {
		return err
	}
	ended := l.await(ctx, e.At+e.For) // or interrupted
	return errors.Join(ended, l.amend(whole, func(info *Info) error { return l.end(whole, info, e) }))
}

// begin has the switches know of another event, which will happen in a moment.
func (l *Live) begin(ctx context.Context, info *Info, by string, words []string) (labs.Event, error) {
	lab, err := l.happening(*info)
	if err != nil {
		return labs.Event{}, err
	}
	parsed, err := lab.ParseEvents(by, words)
	if err != nil {
		return labs.Event{}, err
	}
	now, err := info.now()
	if err != nil {
		return labs.Event{}, err
	}
	spec, err := lab.Fabric(info.Scheme, 0)
	if err != nil {
		return labs.Event{}, err
	}
	e := parsed[0]
	e.At = now + info.notice(spec)
	h := Happened{At: e.At, Words: words}
	if e.For > 0 {
		h.Until = e.At + e.For
	}
	var kept []Happened
	for i, earlier := range lab.Events {
		if !e.Supersedes(earlier) {
			kept = append(kept, info.Events[i])
		}
	}
	info.Events = append(kept, h)
	if rate := int64(float64(e.Rate) / info.Dilation); rate > 0 {
		if err := netns.CheckUplink(rate); err != nil {
			return labs.Event{}, &labs.Error{Source: by, Key: "rate", Err: err}
		}
	}
	return e, l.tell(ctx, *info)
}

// end ends an event at its time, or now if that is before.
func (l *Live) end(ctx context.Context, info *Info, e labs.Event) error {
	i := slices.IndexFunc(info.Events, func(h Happened) bool { return h.At == e.At })
	now, err := info.now()
	if i < 0 || err != nil {
		return err // another event has taken its place
	}
	if now < info.Events[i].Until {
		info.Events[i].Until = now
		if err := l.tell(ctx, *info); err != nil {
			return err
		}
	}
	return l.rerate(*info, now)
}

// happening is the lab with the events that were made to happen in it, and no others.
func (l *Live) happening(info Info) (*labs.Lab, error) {
	lab, err := l.lab(info)
	if err != nil {
		return nil, err
	}
	words := make([][]string, len(info.Events))
	for i, h := range info.Events {
		words[i] = h.Words
	}
	if lab.Events, err = lab.ParseEvents("lab event", words...); err != nil {
		return nil, err
	}
	for i, h := range info.Events {
		lab.Events[i].At = h.At
		if h.Until > 0 {
			lab.Events[i].For = h.Until - h.At
		}
	}
	return lab, nil
}

// tell has all switches follow the events.
func (l *Live) tell(ctx context.Context, info Info) error {
	lab, err := l.happening(info)
	if err != nil {
		return err
	}
	spec, err := lab.Fabric(info.Scheme, 0)
	if err != nil {
		return err
	}
	for _, s := range l.switches {
		if err := s.Follow(ctx, role.Course{Timeline: spec.Timeline, Zero: info.Began}); err != nil {
			return err
		}
	}
	return nil
}

// rerate has each host whose link changes send at the rate that the link has at a lab
// time.
func (l *Live) rerate(info Info, at time.Duration) error {
	lab, err := l.happening(info)
	if err != nil {
		return err
	}
	spec, err := lab.Fabric(info.Scheme, 0)
	if err != nil {
		return err
	}
	plan := netns.Plan{MTU: lab.Host.MTU}
	for i := range spec.Hosts {
		if len(spec.UplinkStates(i)) == 0 {
			continue
		}
		if err := l.Network.Rerate(i, plan, uplinkAt(spec, i, at, info.Dilation)); err != nil {
			return err
		}
	}
	return nil
}

// uplinkAt is the rate at which a host is to send at a lab time, in bits per second on
// the wall.
func uplinkAt(spec fabric.Spec, host int, at time.Duration, dilation float64) int64 {
	rate := spec.Uplink(host)
	for _, s := range spec.UplinkStates(host) {
		if s.At <= at {
			rate = s.Rate
		}
	}
	return int64(float64(rate) / dilation)
}

// notice is the lab time in which all switches learn of an event, and what is on links
// arrives.
func (i Info) notice(spec fabric.Spec) time.Duration {
	const calls = 4 * wire.Notice
	longest := time.Duration(0)
	for n, link := range spec.Links {
		longest = max(longest, spec.Timeline.Most(n, link).Delay+link.Jitter)
	}
	return longest + time.Duration(float64(calls)/i.Dilation)
}

// await waits for a lab time.
func (l *Live) await(ctx context.Context, at time.Duration) error {
	now, err := l.now()
	if err != nil {
		return err
	}
	if err := sleep(ctx, time.Duration(float64(at-now)*l.Dilation)); err != nil {
		return fmt.Errorf("waiting for the event: %w", err)
	}
	return nil
}
