package reproduce

import (
	"slices"

	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
)

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
