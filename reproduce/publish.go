package reproduce

import (
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
