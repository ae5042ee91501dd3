package testbed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"aqmlab/labs"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/role"
	"aqmlab/switch/fabric"
	"aqmlab/switch/wire"
	"aqmlab/units"
)

// Happen makes an event of the words happen, and returns when it has, or with "for" when
// it is over. When ctx ends before, so does the event; when this process is killed, the
// event ends in time all the same. by is what errors call the words.
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
	if err := l.await(whole, e.At); err != nil {
		return err
	}
	if e.For > 0 {
		err = l.await(ctx, e.At+e.For) // or interrupted
	}
	return errors.Join(err, l.amend(whole, func(info *Info) error { return l.settle(whole, info, e) }))
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

// settle makes sure of an event that has begun: the hosts send as it says or, if its time
// is to be over, as the link does without it. One with a time that is not over ends now.
func (l *Live) settle(ctx context.Context, info *Info, e labs.Event) error {
	now, err := info.now()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(info.Events, func(h Happened) bool { return h.At == e.At })
	if i >= 0 && now < info.Events[i].Until { // else another event has taken its place, or it is over
		info.Events[i].Until = now
		return l.tell(ctx, *info)
	}
	lab, spec, err := l.course(*info)
	if err != nil {
		return err
	}
	return l.rerate(ctx, *info, lab.Host.MTU, spec)
}

// course is the lab with its events, and its network.
func (l *Live) course(info Info) (*labs.Lab, fabric.Spec, error) {
	lab, err := l.happening(info)
	if err != nil {
		return nil, fabric.Spec{}, err
	}
	spec, err := lab.Fabric(info.Scheme, 0)
	return lab, spec, err
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

// tell has all switches and hosts follow the events.
func (l *Live) tell(ctx context.Context, info Info) error {
	lab, spec, err := l.course(info)
	if err != nil {
		return err
	}
	if err := l.rerate(ctx, info, lab.Host.MTU, spec); err != nil {
		return err
	}
	for _, s := range l.switches {
		if err := s.Follow(ctx, role.Course{Timeline: spec.Timeline, Zero: info.Began + s.ahead}); err != nil {
			return err
		}
	}
	return nil
}

// rerate has each host whose link changes send at the rates that the link has. Processes
// that stay see to that, along the wall clock: that of a host in a container, and the
// switch's for hosts in namespaces.
func (l *Live) rerate(ctx context.Context, info Info, mtu int, spec fabric.Spec) error {
	if spec.HostPorts {
		return nil // nothing holds hosts back
	}
	var others []role.HostRates
	for i, h := range l.Network.Hosts {
		if len(spec.UplinkStates(i)) == 0 {
			continue
		}
		rates := role.HostRates{MTU: mtu, Steps: uplinkSteps(spec, i, info.Dilation)}
		process, ahead, err := l.nodes.call(ctx, h.Name)
		if errors.Is(err, fs.ErrNotExist) { // it is no container
			rates.Namespace = h.Namespace
			others = append(others, rates)
			continue
		}
		if err == nil {
			err = followRates(ctx, process, info.Began+ahead, rates)
		}
		if err != nil {
			return fmt.Errorf("rate of host %s: %w", h.Name, err)
		}
	}
	if others == nil {
		return nil
	}
	if err := followRates(ctx, l.switches[0].Process, info.Began, others...); err != nil {
		return fmt.Errorf("rates of hosts: %w", err)
	}
	return nil
}

// followRates has a process follow the rates of hosts.
func followRates(ctx context.Context, c role.Caller, zero int64, hosts ...role.HostRates) error {
	err := role.FollowRates(ctx, c, role.Rates{Zero: zero, Hosts: hosts})
	if errors.Is(err, agent.ErrNoMethod) {
		return ErrOld
	}
	return err
}

// uplinkSteps are the rates at which a host is to send, on the wall.
func uplinkSteps(spec fabric.Spec, host int, dilation float64) []role.RateStep {
	onWall := func(rate units.Rate) int64 { return int64(float64(rate) / dilation) }
	steps := []role.RateStep{{Rate: onWall(spec.Uplink(host))}}
	for _, s := range spec.UplinkStates(host) {
		steps = append(steps, role.RateStep{At: time.Duration(float64(s.At) * dilation), Rate: onWall(s.Rate)})
	}
	return steps
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
