package reproduce

import (
	"cmp"
	"fmt"

	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
)

// Card scores every claim of the experiments that were asked for, by what is
// recorded and by what is stored.
func (p *Plan) Card() ([]card.Score, error) {
	records, err := p.loadRecords()
	if err != nil {
		return nil, err
	}
	a, err := p.openArchive(p.experiments)
	if err != nil {
		return nil, err
	}
	for id, r := range records {
		fresh, err := a.collect(id)
		if err != nil {
			return nil, fmt.Errorf("scoring %s: %w", id, err)
		}
		r.Merge(fresh, p.precedence())
	}
	return p.scores(records), nil
}

// scores judges the claims by the records of their experiments.
func (p *Plan) scores(records map[string]*record.Record) (scores []card.Score) {
	for _, e := range p.experiments {
		if !e.scored {
			continue
		}
		for _, c := range e.Claims {
			scores = append(scores, card.ScoreClaim(e.paper, e.Experiment, c, p.figures(records[e.ID], e, c)))
		}
	}
	return scores
}

// figures lists what a record has of a claim.
func (p *Plan) figures(r *record.Record, e *experiment, c papers.Claim) (figures []card.Figure) {
	for _, f := range r.Figures {
		if f.Claim == c.ID {
			stale := !p.isCurrent(f)
			f.Flows = flowsOf(r, e.lab.Name, f)
			figures = append(figures, card.Figure{Figure: f, Stale: stale})
		}
	}
	return figures
}

// flowsOf is the number of flows that the points of a figure had. It differs from the
// lab's number where flows come in groups or background traffic is added. Where seeds
// have different numbers, the one nearest to the figure's scale counts. A point that is
// younger than the figure does not count: it replaced one of the figure's points.
func flowsOf(r *record.Record, lab string, f record.Figure) int {
	had := 0
	for _, k := range r.Points {
		mine := k.Lab == lab && k.Scheme == f.Scheme && k.Load == f.Load && k.Runtime == f.Runtime && !k.Measured.After(f.Measured)
		if mine && (had == 0 || apart(k.Flows, f.Flows) < apart(had, f.Flows)) {
			had = k.Flows
		}
	}
	return cmp.Or(had, f.Flows)
}

// apart is how far apart two numbers are.
func apart(a, b int) int { return max(a-b, b-a) }
