package reproduce

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/card"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results/report/figure"
)

// publish writes the card of all papers as README.md beside the records, and
// their figures. It is made of records alone: the same ones give the same bytes.
func publish(o Options) error {
	o.Runtime = orchestrator.Simulator() // records are of all
	if o.Scale != Quick {
		o.Scale = Standard // which every experiment has
	}
	p, err := outline([]string{All}, o)
	if err != nil {
		return err
	}
	page := card.Page{Figures: make(map[string][]figure.Figure)}
	if page.Papers, err = papers.All(); err != nil {
		return err
	}
	if page.Records, err = p.loadRecords(); err != nil {
		return err
	}
	page.Scores = p.scores(page.Records)
	for _, e := range p.experiments {
		if err := p.clear(e); err != nil {
			return err
		}
	}
	for _, e := range p.experiments {
		figures, err := p.draw(e, page.Records[e.ID])
		if err != nil {
			return err
		}
		page.Figures[e.ID] = append(page.Figures[e.ID], figures...)
	}
	return record.WriteFile(filepath.Join(p.records(), "README.md"), []byte(page.Markdown()))
}

// clear removes the figures of an experiment. Experiments may share a lab, whose
// name is that of the files, so all are cleared before any is drawn.
func (p *Plan) clear(e *experiment) error {
	old, err := filepath.Glob(filepath.Join(p.records(), e.paper, e.lab.Name+"_*.svg"))
	if err != nil {
		return fmt.Errorf("looking for figures: %w", err)
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("removing an old figure: %w", err)
		}
	}
	return nil
}

// draw writes the figures of an experiment.
func (p *Plan) draw(e *experiment, r *record.Record) ([]figure.Figure, error) {
	current := slices.DeleteFunc(slices.Clone(r.Points), func(k record.Point) bool {
		return k.Lab != e.lab.Name || !p.isCurrentPoint(k)
	})
	figures := card.Plots(e.String(), e.lab, e.Claims, current)
	for _, f := range figures {
		if err := record.WriteFile(filepath.Join(p.records(), e.paper, f.Name+".svg"), f.SVG()); err != nil {
			return nil, err
		}
	}
	return figures, nil
}

// Card scores every claim of the experiments that were asked for, by what is
// recorded and by what is stored.
func (p *Plan) Card() ([]card.Score, error) {
	records, err := p.loadRecords()
	if err != nil {
		return nil, err
	}
	a := p.openArchive()
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
			scores = append(scores, card.ScoreClaim(e.paper, e.Experiment, c, p.figures(records, e, c)))
		}
	}
	return scores
}

// flowsOf is the number of flows that the points of a figure had. It differs from the
// lab's number where flows come in groups or background traffic is added. Where seeds
// have different numbers, the one nearest to the figure's scale counts. A point that is
// younger than the figure does not count: it replaced one of the figure's points. Nor does one
// of more flows than a point of the figure's scale can have: the record kept it in place of one.
func flowsOf(r *record.Record, e *experiment, f record.Figure) int {
	had := 0
	for _, k := range r.Points {
		mine := k.Lab == e.lab.Name && !(e.asAsked() && k.Flows > f.Flows) && k.Scheme == f.Scheme && k.Load == f.Load && k.Runtime == f.Runtime && !k.Measured.After(f.Measured)
		if mine && (had == 0 || apart(k.Flows, f.Flows) < apart(had, f.Flows)) {
			had = k.Flows
		}
	}
	return cmp.Or(had, f.Flows)
}

// apart is how far apart two numbers are.
func apart(a, b int) int { return max(a-b, b-a) }
