package fabric

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"aqmlab/switch/event"
)

// Begin begins the timeline of the spec: its time zero is the lab time zero, which is not
// over. Without it nothing changes. It is called once.
func (n *Network) Begin(zero time.Duration) {
	for _, i := range n.impaired {
		i.begin(zero)
	}
	for _, in := range n.inlets {
		in.course.ahead = shifted(in.states, zero)
	}
	for i := range n.hosts {
		if line := n.hosts[i].line; line != nil {
			line.begin(zero)
		}
	}
	for _, p := range n.ports {
		if p.in != nil && p.in.intake != nil {
			p.in.intake.course.ahead = shifted(p.in.intake.states, zero)
		}
	}
	n.beginDetours(zero)
	if n.to.Rated != nil {
		n.tellRates(zero)
	}
}

// beginDetours has routes follow the timeline. Of the detours that are over only the last
// one counts.
func (n *Network) beginDetours(zero time.Duration) {
	for _, t := range n.detoured {
		n.loop.Cancel(t)
	}
	n.detoured = nil
	for i, d := range n.detours {
		if i+1 < len(n.detours) && zero+n.detours[i+1].at <= n.loop.Now() {
			continue
		}
		t := event.NewTimer(func(time.Duration) { copy(n.routes, d.routes) })
		n.detoured = append(n.detoured, t)
		n.loop.Schedule(t, zero+d.at)
	}
}

// tellRates tells of changes of the rates at which hosts send.
func (n *Network) tellRates(zero time.Duration) {
	for host, h := range n.hosts {
		if h.wire == nil || h.wire.impair == nil {
			continue
		}
		rate := h.wire.rate
		for _, s := range h.wire.impair.states {
			if s.Rate == rate {
				continue
			}
			rate = s.Rate
			n.loop.Schedule(event.NewTimer(func(now time.Duration) { n.to.Rated(now, host, s.Rate) }), zero+s.At)
		}
	}
}

// detour is the routes of all nodes from a time of the timeline on.
type detour struct {
	at     time.Duration
	routes []table
}

// findDetours lists how routes follow links that go down and come up: they are those on
// the paths that are shortest then, as a link-state protocol finds them where all links
// cost the same. A switch that has no path left keeps the routes that it had when all
// links were up. They lead to a link that is down, and what goes there is lost on it.
func findDetours(t Timeline, nodes []node, hosts int, all []table) []detour {
	links := 0
	for _, n := range nodes {
		for _, e := range n.links {
			links = max(links, e.number/2+1)
		}
	}
	type flip struct {
		change
		link int
	}
	var flips []flip
	for link := range links {
		for _, c := range changes(t.states(2 * link)) {
			flips = append(flips, flip{c, link})
		}
	}
	slices.SortStableFunc(flips, func(a, b flip) int { return cmp.Compare(a.at, b.at) })
	var detours []detour
	down, known := make([]bool, links), map[string][]table{} // a link that flaps needs its routes once
	for i, f := range flips {
		down[f.link] = f.down
		if i+1 < len(flips) && flips[i+1].at == f.at {
			continue
		}
		set := fmt.Sprint(down)
		if known[set] == nil {
			known[set] = routesAround(nodes, hosts, all, down)
		}
		detours = append(detours, detour{f.at + t.Convergence, known[set]})
	}
	return detours
}

// routesAround are the routes while some links are down; all are those while none is.
func routesAround(nodes []node, hosts int, all []table, down []bool) []table {
	if !slices.Contains(down, true) {
		return slices.Clone(all)
	}
	homes, lasts := findHomes(nodes, hosts)
	for i := range homes {
		if nodes[i].links[0].isOf(down) {
			homes[i].number += int32(len(lasts)) // to which routes are as they were
		}
	}
	routes := newTables(nodes, hosts, homes)
	for home, last := range lasts {
		hops := distances(nodes, hosts, last, down)
		for at := hosts; at < len(nodes); at++ {
			if ways := nodes[at].towards(hops, down); len(ways) > 0 {
				routes[at].add(ways)
			} else {
				routes[at].copyFrom(&all[at], home)
			}
		}
	}
	for home := range lasts {
		for at := hosts; at < len(nodes); at++ {
			routes[at].copyFrom(&all[at], home)
		}
	}
	return routes
}
