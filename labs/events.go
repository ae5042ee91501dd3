package labs

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"aqmlab/labs/clab"
	"aqmlab/switch/fabric"
	"aqmlab/units"
)

// Event is a change of a link or of a host, in lab time from the beginning of the trace.
// What it does not set stays as it is.
type Event struct {
	At    time.Duration  `lab:"at" required:"yes" range:"0s..100h" doc:"required; when, counted as the starts of flows are"`
	For   time.Duration  `lab:"for" write:"set" range:"1ns..100h" doc:"time after which what it sets is again as the rest of the lab says; without, for good"`
	Link  string         `lab:"link" write:"set" doc:"such as s1:h2: the link between these nodes, or every link between them"`
	From  string         `lab:"from" write:"set" doc:"with link: one of the two nodes, whose direction alone changes; both without"`
	Rate  units.Rate     `lab:"rate" write:"set" range:"1Kbps..100000Gbps" doc:"of the link"`
	Delay *time.Duration `lab:"delay" write:"set" range:"0s..1s" doc:"of the link, one way"`
	Loss  *clab.Share    `lab:"loss" write:"set" doc:"0% to below 100%; of the link: share of packets that it loses, by chance"`
	Down  *bool          `lab:"down" write:"set" doc:"true: the link carries nothing; both directions"`
	Host  string         `lab:"host" write:"set" doc:"in place of a link"`
	RTT   time.Duration  `lab:"rtt" write:"set" range:"1ns..10s" doc:"of the host: base RTT of all data that it sends, at least rtt.min"`
}

// String is what happens, without its time.
func (e Event) String() string {
	words := []string{e.Link + e.Host}
	say := func(is bool, all ...string) {
		if is {
			words = append(words, all...)
		}
	}
	say(e.From != "", "from", e.From)
	say(e.Rate > 0, e.Rate.String())
	say(e.Delay != nil, "delay", units.FormatTime(deref(e.Delay)))
	say(e.Loss != nil, "loss", deref(e.Loss).String())
	say(e.Down != nil && *e.Down, "down")
	say(e.Down != nil && !*e.Down, "up")
	say(e.RTT > 0, "rtt", units.FormatTime(e.RTT))
	say(e.For > 0, "for", units.FormatTime(e.For))
	return strings.Join(words, " ")
}

// deref is what p points at, or zero.
func deref[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

// of tells whether the event is of the link between two nodes.
func (e Event) of(a, b string) bool { return e.Link == a+":"+b || e.Link == b+":"+a }

// moment is an event, or the end of what it set.
type moment struct {
	at   time.Duration
	over bool
	Event
}

// moments are all of a lab, in their order. What ends makes room for what begins.
func (l *Lab) moments() []moment {
	var all []moment
	for _, e := range l.Events {
		if e.For > 0 {
			all = append(all, moment{e.At + e.For, true, e})
		}
	}
	for _, e := range l.Events {
		all = append(all, moment{e.At, false, e})
	}
	slices.SortStableFunc(all, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return all
}

// timeline is how the network of a spec changes.
func (l *Lab) timeline(spec fabric.Spec) fabric.Timeline {
	t := fabric.Timeline{Convergence: l.Topology.Convergence}
	moments := l.moments()
	if len(moments) == 0 {
		return t
	}
	for i, link := range spec.Links {
		for _, from := range []string{link.A, link.B} {
			if states := courseOf(link, from, moments); len(states) > 0 {
				t.Links = append(t.Links, fabric.LinkCourse{Link: i, Back: from == link.B, States: states})
			}
		}
	}
	for i, h := range spec.Hosts {
		if states := l.hostCourse(h, moments); len(states) > 0 {
			t.Hosts = append(t.Hosts, fabric.HostCourse{Host: i, States: states})
		}
	}
	return t
}

// courseOf is how the direction of a link away from one of its nodes changes.
func courseOf(link fabric.Link, from string, moments []moment) []fabric.LinkState {
	base := fabric.LinkState{Rate: link.Rate, Delay: link.Delay, LossRate: link.LossRate}
	state := base
	var states []fabric.LinkState
	for _, m := range moments {
		if !m.of(link.A, link.B) || m.From != "" && m.From != from {
			continue
		}
		set := fabric.LinkState{Rate: m.Rate, Delay: deref(m.Delay), LossRate: float64(deref(m.Loss)), Down: deref(m.Down)}
		if m.over {
			set = base
		}
		state.At = m.at
		if m.Rate > 0 {
			state.Rate = set.Rate
		}
		if m.Delay != nil {
			state.Delay = set.Delay
		}
		if m.Loss != nil {
			state.LossRate = set.LossRate
		}
		if m.Down != nil {
			state.Down = set.Down
		}
		states = append(states, state)
	}
	return states
}

// hostCourse is how what a host holds back changes.
func (l *Lab) hostCourse(h fabric.Host, moments []moment) []fabric.HostState {
	var states []fabric.HostState
	for _, m := range moments {
		switch {
		case m.Host != h.Name:
		case !m.over:
			states = append(states, fabric.HostState{At: m.at, Delays: []time.Duration{m.RTT - l.RTT.Min}})
		case len(h.Delays) > 0:
			states = append(states, fabric.HostState{At: m.at, Delays: h.Delays})
		default:
			states = append(states, fabric.HostState{At: m.at, Delays: []time.Duration{0}})
		}
	}
	return states
}

// ChangesRTTs tells whether some event changes the base RTT of a host.
func (l *Lab) ChangesRTTs() bool {
	return slices.ContainsFunc(l.Events, func(e Event) bool { return e.Host != "" })
}
