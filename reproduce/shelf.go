package reproduce

import (
	"cmp"
	"maps"
	"slices"

	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// loadRecords reads the records of all experiments, by their ids: a claim may be about what
// another experiment measured.
func (p *Plan) loadRecords() (map[string]*record.Record, error) {
	all := make(map[string]*record.Record)
	for _, paper := range p.published {
		for _, e := range paper.Experiments {
			r, err := record.Load(p.records(), paper.ID, e.ID)
			if err != nil {
				return nil, err
			}
			all[e.ID] = r
		}
	}
	return all, nil
}

// shelved is a figure where it was found.
type shelved struct {
	record.Figure
	in      *record.Record
	current bool // of the lab and the claim as they are
}

// shelf lists the figures of a claim: its own, and those of other claims that were taken of
// the same labs in the same way.
func (p *Plan) shelf(records map[string]*record.Record, e *experiment, c papers.Claim) (found []shelved) {
	fingerprints := make(map[results.Coord]string)
	for _, id := range slices.Sorted(maps.Keys(records)) {
		for _, f := range records[id].Figures {
			mine := f.Claim == c.ID
			if !mine && !(c.About(f.Load) && slices.Contains(c.Schemes(), f.Scheme)) {
				continue
			}
			at := results.Coord{Scheme: f.Scheme, Load: f.Load}
			now, ok := fingerprints[at]
			if !ok {
				now, _ = p.fingerprint(e, c, at) // none at a load that the lab no longer has
				fingerprints[at] = now
			}
			if current := now != "" && now == f.Fingerprint; mine || current {
				found = append(found, shelved{f, records[id], current})
			}
		}
	}
	return found
}

// figures lists what records have of a claim, one figure for each runtime, scheme and load:
// that of the lab as it is, of more flows, of more seeds, or the later one. So claims about
// the same have the same figure.
func (p *Plan) figures(records map[string]*record.Record, e *experiment, c papers.Claim) (figures []card.Figure) {
	var best []shelved
	for _, s := range p.shelf(records, e, c) {
		i := slices.IndexFunc(best, func(o shelved) bool {
			return o.Runtime == s.Runtime && o.Scheme == s.Scheme && o.Load == s.Load
		})
		switch {
		case i < 0:
			best = append(best, s)
		case s.better(best[i]):
			best[i] = s
		}
	}
	for _, s := range best {
		s.Flows = flowsOf(s.in, e, s.Figure)
		figures = append(figures, card.Figure{Figure: s.Figure, Stale: !s.current})
	}
	return figures
}

// better tells whether a figure takes the place of another of the same.
func (s shelved) better(o shelved) bool {
	if s.current != o.current {
		return s.current
	}
	return cmp.Or(cmp.Compare(s.Flows, o.Flows), cmp.Compare(s.Seeds, o.Seeds), s.Measured.Compare(o.Measured)) > 0
}
