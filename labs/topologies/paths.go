package topologies

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// OneWay is the delay of the path between the hosts that are furthest apart.
// Links that do not say theirs have the delay unsaid. The layout is one that a
// row of [Table] made: its hosts reach each other.
func (l Layout) OneWay(unsaid time.Duration) time.Duration {
	most, err := l.longest(unsaid)
	if err != nil {
		panic(fmt.Sprintf("a topology that was laid out: %v", err))
	}
	return most.delay
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
		d := append(near[rack], l.Access[host].DelayOr(unsaid))
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
		delay := t.DelayOr(unsaid)
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
