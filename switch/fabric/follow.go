package fabric

import (
	"fmt"
	"time"
)

// Follow readies the network to follow another timeline in place of the one that it
// follows, if any. The other one begins at the lab time zero, which may be over, and has
// all that the one before has changed, as far as it is still to hold. Nothing happens
// before begin is called, on the event loop. What is on a link then is not lost when the
// link goes down.
func (n *Network) Follow(t Timeline) (begin func(zero time.Duration), err error) {
	if err := t.check(n.described()); err != nil {
		return nil, fmt.Errorf("fabric: %w", err)
	}
	detours := findDetours(t, n.nodes, len(n.hosts), n.whole)
	return func(zero time.Duration) {
		n.detours = detours
		for _, node := range n.nodes {
			for i := range node.links {
				n.steer(&node.links[i], t)
			}
		}
		for i := range n.hosts {
			n.hosts[i].steer(t.ofHost(i))
		}
		n.Begin(zero)
	}, nil
}

// described is what the spec of the network says of links and hosts.
func (n *Network) described() (s Spec) {
	for i, node := range n.nodes {
		if i < len(n.hosts) {
			s.Hosts = append(s.Hosts, Host{Name: node.name, Delays: n.hosts[i].delays})
		}
		for _, e := range node.links {
			for len(s.Links) <= e.number/2 {
				s.Links = append(s.Links, Link{})
			}
			s.Links[e.number/2] = e.link
		}
	}
	return s
}

// steer gives one end of a link the states that it has in a timeline.
func (n *Network) steer(e *end, t Timeline) {
	e.states = t.states(e.number)
	if e.in != nil && e.in.intake != nil {
		e.in.intake.states = e.states
	}
	if e.beyond && e.in != nil {
		in := n.inlets[e.number/2]
		in.states = shared(t.states(in.Number), receivedDelay)
	}
	switch w := e.away; {
	case w == nil:
	case w.impair != nil:
		w.impair.steer(*e)
	case len(e.states) > 0:
		w.impair = newImpairment(*e, w.delay, n.seed, n.to.Release, n.to.Release)
		n.impaired = append(n.impaired, w.impair)
		w.lead(w.sink)
	}
}

// steer gives a host the states that it has in a timeline.
func (u *uplink) steer(states []HostState) {
	switch {
	case u.line != nil:
		u.line.states = states
	case u.wire != nil && len(states) > 0:
		u.line = newDelayLine(u.wire, nil, states, u.send)
	}
}
