package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// New plans the experiments that the names stand for: those of experiments, of
// papers, or [All]. The error for any other name wraps [ErrUnknown].
func New(names []string, o Options) (*Plan, error) {
	if !slices.Contains(Runtimes(), string(o.Runtime)) {
		return nil, fmt.Errorf("runtime %q: want one of %s", o.Runtime, strings.Join(Runtimes(), ", "))
	}
	p, err := outline(names, o)
	if err != nil {
		return nil, err
	}
	return p, p.fill()
}

// outline is a plan without points.
func outline(names []string, o Options) (*Plan, error) {
	published, err := papers.All()
	if err != nil {
		return nil, err
	}
	p := &Plan{Options: o}
	if err := p.choose(published, names); err != nil {
		return nil, err
	}
	for _, e := range p.experiments {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("claims of %s: %w", e, err)
		}
	}
	return p, nil
}

// choose takes the experiments that the names stand for, and those that their
// claims look at.
func (p *Plan) choose(published []papers.Paper, names []string) error {
	known := []string{All}
	var asked, baselines []string // ids
	for _, paper := range published {
		known = append(known, paper.ID)
		for _, e := range paper.Experiments {
			known = append(known, e.ID)
			if !p.Scale.covers(e) || !slices.ContainsFunc(names, func(n string) bool { return n == All || n == paper.ID || n == e.ID }) {
				continue
			}
			asked = append(asked, e.ID)
			for _, c := range e.Claims {
				baselines = append(baselines, c.In)
			}
		}
	}
	for _, n := range names {
		if !slices.Contains(known, n) {
			return fmt.Errorf("%w: %w", ErrUnknown, kind.Unknown("name", n, known))
		}
	}
	if len(asked) == 0 {
		return fmt.Errorf("%w: nothing of %s is for the %s scale", ErrUnknown, strings.Join(names, ", "), p.Scale)
	}
	for _, paper := range published {
		for _, e := range paper.Experiments {
			scored := slices.Contains(asked, e.ID)
			if !scored && !slices.Contains(baselines, e.ID) {
				continue
			}
			if err := p.add(paper.ID, e, scored); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds an experiment with all its labs, its own first.
func (p *Plan) add(paper string, e papers.Experiment, scored bool) error {
	names := e.Labs()
	for _, name := range names {
		lab, err := labs.FromBook(name, p.Kinds)
		if err != nil {
			return fmt.Errorf("the labs of %s: %w", e.ID, err)
		}
		p.experiments = append(p.experiments, &experiment{
			Experiment: e.On(name), paper: paper, lab: lab, published: lab.Workload.Flows, labs: len(names),
			scored: scored, fingerprints: make(map[results.Coord]string),
		})
	}
	return nil
}

// fill scales the labs, and lists the points that the claims need. Those of an
// experiment that is not run on real hosts are listed, too: they may be stored.
func (p *Plan) fill() error {
	for _, e := range p.experiments {
		warning, err := p.scale(e)
		if err != nil {
			return err
		}
		if warning != "" {
			p.Warnings = append(p.Warnings, warning)
		}
	}
	if err := p.checkLoads(); err != nil {
		return err
	}
	for _, e := range p.experiments {
		if err := p.addPoints(e); err != nil {
			return fmt.Errorf("planning %s: %w", e, err)
		}
	}
	p.warnOfSimulations()
	return nil
}

// checkLoads refuses loads that no experiment of the plan has.
func (p *Plan) checkLoads() error {
	var known []float64
	for _, e := range p.experiments {
		known = append(known, e.loads...)
	}
	slices.Sort(known)
	for _, load := range p.Loads {
		if !slices.Contains(known, load) {
			return kind.Unknown("load", fmt.Sprint(load), strings.Fields(strings.Trim(fmt.Sprint(slices.Compact(known)), "[]")))
		}
	}
	return nil
}

func (p *Plan) addPoints(e *experiment) error {
	for _, load := range e.lab.Workload.Load {
		for _, seed := range e.lab.Seeds {
			flows, err := trafficgen.Trace(e.lab.Traffic(load, seed))
			if err != nil {
				return err
			}
			cost := p.cost(e.lab, flows)
			for _, scheme := range e.lab.Schemes {
				if err := p.addPoint(point{Coord: results.Coord{Scheme: scheme.Name, Load: load, Seed: seed}, experiment: e, cost: cost}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// addPoint adds a point if a claim needs it. Two experiments may look at the same
// points of one lab.
func (p *Plan) addPoint(one point) (err error) {
	one.purposes = p.purposes(one.experiment, one.Coord)
	if len(one.purposes) == 0 {
		return nil
	}
	if one.key, err = one.experiment.lab.PointKey(one.Scheme, one.Load, one.Seed); err != nil {
		return err
	}
	if i := slices.IndexFunc(p.points, func(o point) bool { return o.key == one.key }); i >= 0 {
		p.points[i].purposes = append(p.points[i].purposes, one.purposes...)
		return nil
	}
	p.points = append(p.points, one)
	return nil
}

// warnOfSimulations names the experiments that were asked for and have nothing to
// run on real hosts.
func (p *Plan) warnOfSimulations() {
	const most = 4 // that are named
	var left []string
	for _, e := range p.experiments {
		if e.scored && e.Environment == papers.Simulator && !p.runsHere(e) {
			left = append(left, e.ID)
		}
	}
	left = slices.Compact(left)
	switch {
	case len(left) > most:
		p.Warnings = append(p.Warnings, fmt.Sprintf("%d experiments are simulations in their papers: they are run by --runtime %s alone", len(left), orchestrator.Simulator()))
	case len(left) > 0:
		p.Warnings = append(p.Warnings, fmt.Sprintf("a simulation in its paper, run by --runtime %s alone: %s", orchestrator.Simulator(), strings.Join(left, ", ")))
	}
}
