package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/orchestrator/sweep"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// Plan is the experiments to reproduce, and the points that their claims need.
type Plan struct {
	Options
	Warnings []string // of the scale, and of what is left out

	published   []papers.Paper // all there are
	experiments []*experiment
	points      []point
	keys        sweep.Hasher // of points
	// only has, of the experiments of which single claims were asked for, the ids of these.
	only map[string][]string
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
			if !by.scored || !metric.NeedsRuns(c) || !c.About(at.Load) || !p.asks(by.ID, c) {
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

// asks tells whether points are run for a claim of an experiment that was asked for: for each,
// unless claims of it were named.
func (p *Plan) asks(id string, c papers.Claim) bool {
	only, some := p.only[id]
	return !some || slices.Contains(only, c.ID)
}

// fingerprint is the hash of what a claim's figure for a scheme at a load depends on:
// the labs, and what the metric is taken of. Numbers of flows and seeds do not count.
func (p *Plan) fingerprint(e *experiment, c papers.Claim, at results.Coord) (string, error) {
	lab, err := e.fingerprint(at)
	if err != nil {
		return "", err
	}
	labs := []string{lab}
	if c.Baseline != "" {
		lab, err := p.baselineOf(e, c).fingerprint(results.Coord{Scheme: c.Baseline, Load: at.Load})
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
	now, err := p.experiments[i].fingerprint(k.Coord)
	return err == nil && now == k.Fingerprint
}

// precedence is what the plan's records keep.
func (p *Plan) precedence() record.Precedence {
	return record.Precedence{CurrentFigure: p.isCurrent, CurrentPoint: p.isCurrentPoint, Since: p.Since}
}

// New plans the experiments that the names stand for: those of experiments, of
// papers, or [All]. The name of a claim stands for its experiment, of which only the points
// are then run that the claim needs. The error for any other name wraps [ErrUnknown].
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
	p := &Plan{Options: o, published: published}
	// A machine without what the runtime needs has stored nothing of it, and its cards and
	// plans are made all the same: to run it fails later.
	if p.keys, err = sweep.NewHasher(o.Runtime); err != nil {
		return nil, err
	}
	p.keys = p.keys.Anyway()
	if err := p.choose(names); err != nil {
		return nil, err
	}
	for _, e := range p.experiments {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("claims of %s: %w", e, err)
		}
	}
	return p, nil
}

// experimentNames are names in the spelling of experiments: tcn/fig3 is tcn-fig3.
func experimentNames(names []string) (ids []string) {
	for _, n := range names {
		ids = append(ids, strings.Replace(n, "/", "-", 1))
	}
	return ids
}

// choose takes the experiments that the names stand for, and those that their
// claims look at.
func (p *Plan) choose(names []string) error {
	ids := experimentNames(names)
	p.only = make(map[string][]string)
	var asked, baselines []string // ids
	for _, paper := range p.published {
		for _, e := range paper.Experiments {
			claims := slices.DeleteFunc(slices.Clone(p.Scale.claims(e)), func(c papers.Claim) bool { return !slices.Contains(ids, c.ID) })
			whole := p.Scale.covers(e) && slices.ContainsFunc(ids, func(n string) bool { return n == All || n == paper.ID || n == e.ID })
			if !whole && len(claims) == 0 {
				continue
			}
			asked = append(asked, e.ID)
			for _, c := range claims {
				if !whole {
					p.only[e.ID] = append(p.only[e.ID], c.ID)
				}
			}
			for _, c := range e.Claims {
				baselines = append(baselines, c.In)
			}
		}
	}
	for i, n := range names {
		if err := p.checkName(n, ids[i]); err != nil {
			return err
		}
	}
	if len(asked) == 0 {
		return fmt.Errorf("%w: nothing of %s is for the %s scale", ErrUnknown, strings.Join(names, ", "), p.Scale)
	}
	for _, paper := range p.published {
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

// checkName wants a name that stands for something. The error for one that begins as an
// experiment's lists the claims of that, else papers and experiments.
func (p *Plan) checkName(name, id string) error {
	known := []string{All}
	var claims []string
	for _, paper := range p.published {
		known = append(known, paper.ID)
		for _, e := range paper.Experiments {
			known = append(known, e.ID)
			if !strings.HasPrefix(id, e.ID+"-") {
				continue
			}
			for _, c := range e.Claims {
				claims = append(claims, c.ID)
			}
		}
	}
	switch {
	case slices.Contains(known, id), slices.Contains(claims, id):
		return nil
	case len(claims) > 0:
		return fmt.Errorf("%w: %w", ErrUnknown, kind.Unknown("claim", name, claims))
	}
	return fmt.Errorf("%w: %w", ErrUnknown, kind.Unknown("name", name, known))
}

// add adds an experiment with all its labs, its own first.
func (p *Plan) add(paper string, e papers.Experiment, scored bool) error {
	names := e.Labs()
	for _, name := range names {
		lab, err := labs.FromBook(name, p.Kinds)
		if err != nil {
			return fmt.Errorf("the labs of %s: %w", e.ID, err)
		}
		lab.Host.Kernel = cmp.Or(p.Kernel, lab.Host.Kernel)
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
	if one.key, err = p.keys.Key(one.experiment.lab, one.Coord); err != nil {
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
