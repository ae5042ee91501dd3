package labs

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"aqmlab/labs/clab"
)

// layOut is the layout of a containerlab file.
func layOut(t *clab.Topology) (Layout, error) {
	l := Layout{}
	place := make([]int, len(t.Nodes)) // of switches and of hosts, each counted from 0
	for i, n := range t.Nodes {
		if n.Switch {
			place[i] = len(l.Switches)
			l.Switches = append(l.Switches, n.Name)
		} else {
			place[i] = len(l.Names)
			l.Names = append(l.Names, n.Name)
		}
	}
	if len(l.Names) > maxHosts {
		return Layout{}, fmt.Errorf("%d hosts: want at most %d", len(l.Names), maxHosts)
	}
	l.Racks, l.Access = make([]int, len(l.Names)), make([]clab.Traits, len(l.Names))
	access, trunks := make([][2]string, len(l.Names)), [][2]string{}
	for _, link := range t.Links {
		a, b := link.A, link.B
		if !t.Nodes[b.Node].Switch {
			a, b = b, a
		}
		if t.Nodes[a.Node].Switch {
			l.Trunks = append(l.Trunks, Trunk{place[link.A.Node], place[link.B.Node], link.Traits})
			trunks = append(trunks, [2]string{link.A.Interface, link.B.Interface})
			continue
		}
		host := place[a.Node]
		l.Racks[host], l.Access[host] = place[b.Node], link.Traits
		access[host] = [2]string{a.Interface, b.Interface}
	}
	l.Interfaces = slices.Concat(access, trunks)
	p, err := l.longest(0)
	l.Hops = p.hops
	return l, err
}

// path is how far something is: in links, and in one-way delay.
type path struct {
	hops  int
	delay time.Duration
}

// longest is the path between the hosts that are furthest apart, each the most
// that a packet can meet: in links, and in delay where unsaid is that of links
// that do not say theirs. Packets take paths of the fewest links. It is an error
// when hosts cannot reach each other.
func (l Layout) longest(unsaid time.Duration) (path, error) {
	near := l.reach(unsaid)
	var most path
	for from := range l.Switches {
		if near[from] == nil {
			continue
		}
		paths := l.pathsFrom(from, unsaid)
		for to := range l.Switches {
			switch between := paths[to]; {
			case near[to] == nil:
			case between.hops < 0:
				return path{}, fmt.Errorf("no path from the hosts at %s to those at %s", l.Switches[from], l.Switches[to])
			case from != to:
				most.hops = max(most.hops, between.hops+2)
				most.delay = max(most.delay, near[from][0]+between.delay+near[to][0])
			case len(near[from]) > 1:
				most.hops = max(most.hops, 2)
				most.delay = max(most.delay, near[from][0]+near[from][1])
			}
		}
	}
	if most.hops == 0 {
		return path{}, errors.New("no two hosts")
	}
	return most, nil
}

// reach is, for each switch, the delays of the links of the two hosts that are
// furthest from it; nil for a switch without hosts.
func (l Layout) reach(unsaid time.Duration) [][]time.Duration {
	near := make([][]time.Duration, len(l.Switches))
	for host, rack := range l.Racks {
		d := append(near[rack], said(l.Access[host], unsaid))
		slices.SortFunc(d, func(a, b time.Duration) int { return cmp.Compare(b, a) })
		near[rack] = d[:min(len(d), 2)]
	}
	return near
}

// pathsFrom are the paths from a switch to all switches, below zero hops where
// there is none.
func (l Layout) pathsFrom(from int, unsaid time.Duration) []path {
	type edge struct {
		to    int
		delay time.Duration
	}
	edges := make([][]edge, len(l.Switches))
	for _, t := range l.Trunks {
		delay := said(t.Traits, unsaid)
		edges[t.A] = append(edges[t.A], edge{t.B, delay})
		edges[t.B] = append(edges[t.B], edge{t.A, delay})
	}
	paths := slices.Repeat([]path{{hops: -1}}, len(l.Switches))
	paths[from] = path{}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		at := paths[queue[0]]
		for _, e := range edges[queue[0]] {
			to := &paths[e.to]
			if to.hops < 0 {
				to.hops = at.hops + 1
				queue = append(queue, e.to)
			}
			if to.hops == at.hops+1 {
				to.delay = max(to.delay, at.delay+e.delay)
			}
		}
	}
	return paths
}

// said is the delay that a link says is its own, or else that one.
func said(t clab.Traits, unsaid time.Duration) time.Duration {
	if t.Delay != nil {
		return *t.Delay
	}
	return unsaid
}

// sayDelay counts the links that say their delay.
func (l Layout) sayDelay() (some, all int) {
	for _, t := range l.links() {
		if t.Delay != nil {
			some++
		}
	}
	return some, len(l.Racks) + len(l.Trunks)
}

// links is what links say of themselves: those of hosts, unless none does, and
// then trunks.
func (l Layout) links() []clab.Traits {
	all := slices.Clone(l.Access)
	for _, t := range l.Trunks {
		all = append(all, t.Traits)
	}
	return all
}

// hasDelays tells whether the topology says what the delays of links are.
func (t Topology) hasDelays() bool {
	if t.laid != nil {
		if some, _ := t.laid.sayDelay(); some > 0 {
			return true
		}
	}
	return t.LinkDelay > 0
}

// ownDelays is the key that says what the delays of links are, or nothing when
// the base RTT does. Either all links of a file say their delay, or none, or
// topology.link_delay is that of the others.
func (r *reader) ownDelays(l *Lab, layout Layout) string {
	some, all := layout.sayDelay()
	switch {
	case some == 0 && l.Topology.LinkDelay == 0:
		return ""
	case some == 0:
		return linkDelayPath
	case some == all && r.get(linkDelayPath) != nil:
		r.fail(linkDelayPath, "not used when all links of topology.file say their delay")
	case some < all && l.Topology.LinkDelay == 0 && r.sound(linkDelayPath):
		r.fail(linkDelayPath, "missing: %d of the %d links of topology.file say their delay: want a time such as 10us for the others", some, all)
	}
	return filePath
}

// oneWay is the delay of the path between the hosts that are furthest apart, in
// a topology that says what the delays of links are.
func (t Topology) oneWay(layout Layout) time.Duration {
	if t.laid == nil {
		return time.Duration(layout.Hops) * t.LinkDelay
	}
	most, err := layout.longest(t.LinkDelay)
	if err != nil {
		panic(fmt.Sprintf("a topology that was laid out: %v", err))
	}
	return most.delay
}
