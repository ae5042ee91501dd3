package reproduce

import (
	"fmt"
	"slices"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

// Plan is the experiments to reproduce, and the points that their claims need.
type Plan struct {
	Options
	Warnings []string // of the scale, and of what is left out

	experiments []*experiment
	points      []point
}

// point is one point of the plan.
type point struct {
	results.Coord
	experiment *experiment
	key        string
	cost       float64   // seconds: of a core in virtual time, else of the wall
	purposes   []purpose // what it is needed for
}

func (p point) String() string {
	return fmt.Sprintf("%s %v", p.experiment, p.Coord)
}

// purpose is a figure that a point is needed for: of a claim, for one scheme at
// one load.
type purpose struct {
	experiment *experiment
	claim      papers.Claim
	results.Coord
}

// experiment finds an experiment of the plan, with its own lab.
func (p *Plan) experiment(id string) *experiment {
	i := slices.IndexFunc(p.experiments, func(e *experiment) bool { return e.ID == id })
	if i < 0 {
		return nil
	}
	return p.experiments[i]
}

// baselineOf is the experiment that has the baseline of a claim.
func (p *Plan) baselineOf(e *experiment, c papers.Claim) *experiment {
	if c.In != "" {
		return p.experiment(c.In)
	}
	return e
}

// runsHere tells whether an experiment is run on the plan's runtime: on real hosts
// those that the paper ran on a testbed.
func (p *Plan) runsHere(e *experiment) bool {
	return p.modelled() || e.Environment == papers.Testbed
}

// purposes lists the figures that a scheme of an experiment at a load is needed
// for.
func (p *Plan) purposes(e *experiment, at results.Coord) (all []purpose) {
	for _, by := range p.experiments {
		for _, c := range p.Scale.claims(by.Experiment) {
			if !by.scored || !metric.NeedsRuns(c) || !c.About(at.Load) {
				continue
			}
			isBaseline := c.Baseline == at.Scheme && p.baselineOf(by, c) == e
			for _, scheme := range c.Schemes() {
				if isBaseline || by == e && scheme == at.Scheme {
					all = append(all, purpose{by, c, results.Coord{Scheme: scheme, Load: at.Load}})
				}
			}
		}
	}
	return all
}

// loadRecords reads the records of the plan's experiments, by their ids.
func (p *Plan) loadRecords() (map[string]*record.Record, error) {
	all := make(map[string]*record.Record)
	for _, e := range p.experiments {
		if all[e.ID] != nil {
			continue
		}
		r, err := record.Load(p.records(), e.paper, e.ID)
		if err != nil {
			return nil, err
		}
		all[e.ID] = r
	}
	return all, nil
}

// fingerprint is the hash of what a claim's figure for a scheme at a load depends on:
// the labs, and what the metric is taken of. Numbers of flows and seeds do not count.
func (p *Plan) fingerprint(e *experiment, c papers.Claim, at results.Coord) (string, error) {
	lab, err := e.fingerprint(at.Scheme, at.Load)
	if err != nil {
		return "", err
	}
	labs := []string{lab}
	if c.Baseline != "" {
		lab, err := p.baselineOf(e, c).fingerprint(c.Baseline, at.Load)
		if err != nil {
			return "", err
		}
		labs = append(labs, lab)
	}
	constant := c.From // the figure is a difference from it
	if !c.Relation.Relative() || c.Baseline != "" {
		constant = nil
	}
	return record.Hash([]any{labs, c.Metric, c.Relation.Relative(), constant, c.Class, c.Port, c.Queue, c.Probe, c.Windows, c.Base}), nil
}

// isCurrent tells whether a figure is of the lab and the claim as they are.
func (p *Plan) isCurrent(f record.Figure) bool {
	for _, e := range p.experiments {
		for _, c := range e.Claims {
			if c.ID == f.Claim {
				now, err := p.fingerprint(e, c, results.Coord{Scheme: f.Scheme, Load: f.Load})
				return err == nil && now == f.Fingerprint
			}
		}
	}
	return false
}

// isCurrentPoint tells whether a point is of the lab as it is.
func (p *Plan) isCurrentPoint(k record.Point) bool {
	i := slices.IndexFunc(p.experiments, func(e *experiment) bool { return e.lab.Name == k.Lab })
	if i < 0 {
		return false
	}
	now, err := p.experiments[i].fingerprint(k.Scheme, k.Load)
	return err == nil && now == k.Fingerprint
}

// precedence is what the plan's records keep.
func (p *Plan) precedence() record.Precedence {
	return record.Precedence{CurrentFigure: p.isCurrent, CurrentPoint: p.isCurrentPoint, Since: p.Since}
}
