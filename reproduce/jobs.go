package reproduce

import (
	"fmt"
	"slices"

	"aqmlab/orchestrator"
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
	return fmt.Sprintf("%s %s load %v seed %d", j.study, j.scheme, j.load, j.seed)
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
			return fmt.Errorf("planning %s: %w", s, err)
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
				key, err := s.lab.PointKey(scheme.Name, load, seed)
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
			if !by.scored || c.Unmeasured != "" || !c.About(load) {
				continue
			}
			own := by == s && (slices.Contains(c.Schemes(), scheme) || c.In == "" && c.Baseline == scheme)
			if own || c.In != "" && p.study(c.In) == s && c.Baseline == scheme {
				return true
			}
		}
	}
	return false
}
