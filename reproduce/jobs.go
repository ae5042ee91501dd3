package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/trafficgen"
)

// job is one point of the plan.
type job struct {
	study *study
	results.Coord
	key   string
	cost  float64 // seconds: of a core in virtual time, else of the wall
	wants []want  // what it is needed for
}

func (j job) String() string {
	return fmt.Sprintf("%s %v", j.study, j.Coord)
}

// fill scales the labs, and lists the points that the claims need. Those of an
// experiment that is not run on real hosts are listed, too: they may be stored.
func (p *Plan) fill() error {
	for _, s := range p.studies {
		if err := p.scale(s); err != nil {
			return err
		}
	}
	if err := p.checkLoads(); err != nil {
		return err
	}
	for _, s := range p.studies {
		if err := p.addPoints(s); err != nil {
			return fmt.Errorf("planning %s: %w", s, err)
		}
	}
	p.warnOfModelled()
	return nil
}

// warnOfModelled names the experiments that were asked for and have nothing to
// run on real hosts.
func (p *Plan) warnOfModelled() {
	const most = 4 // that are named
	var left []string
	for _, s := range p.studies {
		if s.scored && s.Environment == papers.Simulator && !p.runs(s) {
			left = append(left, s.ID)
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

func (p *Plan) addPoints(s *study) error {
	for _, load := range s.lab.Workload.Load {
		for _, seed := range s.lab.Seeds {
			flows, err := trafficgen.Trace(s.lab.Traffic(load, seed))
			if err != nil {
				return err
			}
			cost := p.cost(s.lab, flows)
			for _, scheme := range s.lab.Schemes {
				wants := p.wants(s, spot{scheme.Name, load})
				if len(wants) == 0 {
					continue
				}
				key, err := s.lab.PointKey(scheme.Name, load, seed)
				if err != nil {
					return err
				}
				j := job{s, results.Coord{Scheme: scheme.Name, Load: load, Seed: seed}, key, cost, wants}
				// Two experiments may look at the same points of one lab.
				if i := slices.IndexFunc(p.jobs, func(o job) bool { return o.key == key }); i >= 0 {
					p.jobs[i].wants = append(p.jobs[i].wants, wants...)
					continue
				}
				p.jobs = append(p.jobs, j)
			}
		}
	}
	return nil
}

// want is a figure: of a claim, for one scheme at one load.
type want struct {
	study *study
	claim papers.Claim
	spot
}

// wants lists the figures that a scheme of an experiment at a load is needed for.
func (p *Plan) wants(s *study, at spot) (wants []want) {
	for _, by := range p.studies {
		for _, c := range p.Scale.claims(by.Experiment) {
			if !by.scored || !metric.NeedsRuns(c) || !c.About(at.load) {
				continue
			}
			base := c.Baseline == at.scheme && (c.In == "" && by == s || c.In != "" && p.study(c.In) == s)
			for _, scheme := range c.Schemes() {
				if base || by == s && scheme == at.scheme {
					wants = append(wants, want{by, c, spot{scheme, at.load}})
				}
			}
		}
	}
	return wants
}

// recorded tells whether all that a point is needed for stands in the records, of
// as many flows and seeds as the plan has, or more, and not measured too early.
func (p *Plan) recorded(j job, records map[string]*record) bool {
	return !slices.ContainsFunc(j.wants, func(w want) bool {
		return !slices.ContainsFunc(records[w.study.ID].Figures, func(k kept) bool {
			return k.Claim == w.claim.ID && k.Scheme == w.scheme && k.Load == w.load && k.Runtime == string(p.Runtime) &&
				k.Flows >= w.study.lab.Workload.Flows && k.Seeds >= len(w.study.lab.Seeds) && !k.Measured.Before(p.Since) && p.current(k)
		})
	})
}
