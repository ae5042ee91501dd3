package coexist

import (
	"cmp"
	"slices"
	"time"

	"aqmlab/results"
)

// join is a flow of a party that joins, by 1, or leaves, by -1.
type join struct {
	at    time.Duration
	party int
	by    int
}

// joinsOf are those of all flows of a point that ends at a time, in the order of time.
func joinsOf(p Parties, flows []results.Flow, end time.Duration) []join {
	var all []join
	for _, f := range flows {
		party := p.Flow(f)
		if from, to, ok := spanOf(f, end); ok && party >= 0 && to > from {
			all = append(all, join{from, party, 1}, join{to, party, -1})
		}
	}
	slices.SortFunc(all, func(a, b join) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.party, b.party)) })
	return all
}

// stretches calls visit for each stretch of time in which nobody joins or leaves, with how
// many flows each party has under way in it. Visit must not keep them.
func stretches(joins []join, parties int, visit func(from, to time.Duration, flows []int)) {
	flows := make([]int, parties)
	for i, j := range joins {
		flows[j.party] += j.by
		if i+1 < len(joins) && joins[i+1].at > j.at {
			visit(j.at, joins[i+1].at, flows)
		}
	}
}

// underWay is the time from the first byte of a point's flows to the last. A flow that
// did not end is under way until the last sample.
func underWay(p results.Point) (from, to time.Duration) {
	last := results.LastSample(p.Queues)
	for _, s := range p.Services {
		last = max(last, s.At)
	}
	first := true
	for _, f := range p.Flows {
		start, end, ok := spanOf(f, last)
		if !ok {
			continue
		}
		if first || start < from {
			from = start
		}
		to, first = max(to, end), false
	}
	return from, to
}

// lastOffered is until when any flow of a point that ends at a time had something to send. One
// that stops may end later, when what was lost of it is sent again.
func lastOffered(flows []results.Flow, end time.Duration) (last time.Duration) {
	for _, f := range flows {
		_, to, ok := spanOf(f, end)
		if ok && f.Stop > 0 {
			to = min(to, f.Stop)
		}
		if ok {
			last = max(last, to)
		}
	}
	return last
}

// spanOf is when a flow was under way. One that did not complete is so until it stops, or
// until the point ends; ok is false for one that was never sent.
func spanOf(f results.Flow, end time.Duration) (from, to time.Duration, ok bool) {
	switch {
	case f.Completed():
		return f.Sent, f.Sent + f.FCT, true
	case f.Sent == 0 && f.Received == 0:
		return 0, 0, false
	case f.Stop > 0:
		end = min(end, f.Stop)
	}
	return f.Sent, max(end, f.Sent), true
}
