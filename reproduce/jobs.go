package reproduce

import (
	"fmt"
	"slices"

	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results/papers"
	"aqmlab/trafficgen"
)

// job is one point of the plan.
type job struct {
	study  *study
	scheme string
	load   float64
	seed   uint64
	key    string
	cost   float64 // seconds: of a core in virtual time, else of the wall
}

func (j job) String() string {
	return fmt.Sprintf("%s %s load %v seed %d", j.study.ID, j.scheme, j.load, j.seed)
}

// restricted is the lab with some of its schemes at one load and seed: what is
// run, and stored as the lab of the run.
func restricted(l *labs.Lab, schemes []string, load float64, seed uint64) (*labs.Lab, error) {
	one := *l
	one.Schemes = slices.Clone(l.Schemes)
	one.Workload.Load = []float64{load}
	one.Seeds = []uint64{seed}
	return &one, one.Only(schemes)
}

// keyOf is what a point is known by: the lab as it was run for the point alone.
func keyOf(l *labs.Lab, scheme string, load float64, seed uint64) (string, error) {
	one, err := restricted(l, []string{scheme}, load, seed)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %v %d %s", l.Name, scheme, load, seed, one.Hash()), nil
}

// fill scales the labs, and lists the points that the claims need. Those of an
// experiment that is not run on real hosts are listed, too: they may be stored.
func (p *Plan) fill() error {
	for _, s := range p.studies {
		if err := p.scale(s); err != nil {
			return err
		}
	}
	for _, s := range p.studies {
		if err := p.addPoints(s); err != nil {
			return fmt.Errorf("planning %s: %w", s.ID, err)
		}
	}
	return nil
}

func (p *Plan) addPoints(s *study) error {
	for _, load := range s.lab.Workload.Load {
		for _, seed := range s.lab.Seeds {
			flows, err := trafficgen.Trace(s.lab.Traffic(load, seed))
			if err != nil {
				return err
			}
			cost := cost(s.lab, flows)
			if p.Runtime != orchestrator.Sim {
				cost = wall(flows)
			}
			for _, scheme := range s.lab.Schemes {
				if !p.needed(s, scheme.Name, load) {
					continue
				}
				key, err := keyOf(s.lab, scheme.Name, load, seed)
				if err != nil {
					return err
				}
				j := job{s, scheme.Name, load, seed, key, cost}
				// Two experiments may look at the same points of one lab.
				if !slices.ContainsFunc(p.jobs, func(o job) bool { return o.key == key }) {
					p.jobs = append(p.jobs, j)
				}
			}
		}
	}
	return nil
}

// needed tells whether a claim looks at a scheme of an experiment at a load.
func (p *Plan) needed(s *study, scheme string, load float64) bool {
	for _, by := range p.studies {
		for _, c := range by.Claims {
			if !by.scored || c.Unmeasured != "" || !holds(c, load) {
				continue
			}
			own := by == s && (slices.Contains(c.Schemes(), scheme) || c.In == "" && c.Baseline == scheme)
			if own || c.In == s.ID && c.Baseline == scheme {
				return true
			}
		}
	}
	return false
}

// holds tells whether a claim is about a load.
func holds(c papers.Claim, load float64) bool {
	if c.Load != 0 {
		return load == c.Load
	}
	return load >= c.MinLoad
}
