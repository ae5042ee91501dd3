// Package coexist says how parties share a network: who gets how much of it, how fairly,
// how much of the bottleneck is used, how long packets wait there, and how soon shares
// settle after somebody joins or leaves.
//
// It follows RFC 5166 (metrics of congestion control) and RFC 7928 (how AQM schemes are
// characterized). All times are lab time.
package coexist

import "aqmlab/results"

// Judge judges a point of a run. Of a point without samples of goodput or queues it says
// only what the rest tells.
func Judge(m results.Manifest, p results.Point, r Rule) Judgement {
	parties := PartiesOf(m, p.Flows)
	j := Judgement{Parties: parties.Names, Values: []Value{}}
	from, to := underWay(p)
	if to <= from {
		return j
	}
	over := step(p.Services)
	w := r.window(to-from, over)
	j.Window = results.Micros(w)
	joins := joinsOf(parties, p.Flows, to)
	j.share(parties, windowsOf(parties, p.Services, joins, w), p)
	j.flows(p, from, to)
	j.converge(parties, p.Services, joins, settling{r, w, over})
	j.bottleneck(m, p, from, to)
	return j
}
