package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/reproduce/papers"
	"aqmlab/trafficgen"
)

// Scale is how much of an experiment is run.
type Scale string

// The scales.
const (
	Quick    Scale = "quick"    // the loads that claims name, and the highest; as many flows as a short time allows, one seed
	Standard Scale = "standard" // the loads that claims name, and thirds of the highest; 10,000 flows; two seeds
	Headline Scale = "headline" // headline claims alone, at the loads that they name or the highest; the published flows; two seeds, one on a kernel
	Full     Scale = "full"     // the published loads and flows; three seeds
)

const (
	standardFlows = 10_000
	// kernelFlows are those of a point on the TCP of a kernel at the standard scale:
	// a guest moves 54,000 packets a second where the model moves a million, so that
	// the testbed experiments of the papers take about an hour of two cores.
	kernelFlows = 1_000
	// quickBudget is the core time of an experiment with all its labs: 45 of them
	// finish in 15 minutes on two cores, with a third to spare.
	quickBudget = 25.0 // seconds
	quickFlows  = 200  // at least
)

// thirds are run at the standard scale, whatever the claims name: of the published
// loads those nearest to a third of the highest, to two thirds, and to all of it.
func thirds(published []float64) (loads []float64) {
	for i := range 3 {
		want := slices.Max(published) * float64(i+1) / 3
		loads = append(loads, slices.MinFunc(published, func(a, b float64) int {
			return cmp.Compare(math.Abs(a-want), math.Abs(b-want))
		}))
	}
	return loads
}

// scale cuts the lab of an experiment down.
func (p *Plan) scale(s *study) error {
	l := s.lab
	kernel := !p.Runtime.Facts().Modelled
	l.Seeds = p.Scale.seeds(s, kernel)
	s.loads = l.Workload.Load
	if !s.fixed() {
		s.loads = p.Scale.loads(s, kernel)
	}
	l.Workload.Load = slices.DeleteFunc(slices.Clone(s.loads), func(load float64) bool { return !p.asked(load) })
	switch {
	case s.fixed():
	case p.Flows > 0:
		l.Workload.Flows = min(l.Workload.Flows, p.Flows)
	case p.Scale == Standard && kernel:
		l.Workload.Flows = min(l.Workload.Flows, kernelFlows)
	case p.Scale == Standard:
		l.Workload.Flows = min(l.Workload.Flows, standardFlows)
	case p.Scale == Quick:
		flows, err := p.affordable(s, quickBudget/float64(s.labs))
		if err != nil {
			return err
		}
		if flows < l.Workload.Flows {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s: %d flows a point, the lab has %d", s, flows, l.Workload.Flows))
			l.Workload.Flows = flows
		}
	}
	return nil
}

// asked tells whether points of a load are wanted.
func (p *Plan) asked(load float64) bool {
	return len(p.Loads) == 0 || slices.Contains(p.Loads, load)
}

// checkLoads refuses loads that no experiment of the plan has.
func (p *Plan) checkLoads() error {
	var known []float64
	for _, s := range p.studies {
		known = append(known, s.loads...)
	}
	slices.Sort(known)
	for _, load := range p.Loads {
		if !slices.Contains(known, load) {
			return kind.Unknown("load", fmt.Sprint(load), strings.Fields(strings.Trim(fmt.Sprint(slices.Compact(known)), "[]")))
		}
	}
	return nil
}

// fixed tells whether the lab's traffic has a number of flows of its own, and
// none of it is drawn by load.
func (s *study) fixed() bool {
	kind := s.lab.Workload.Arrival.Kind
	return kind == "static" || kind == "trace"
}

// seeds lists the seeds, on modelled hosts or on a kernel's. Traffic that is the
// same with any seed has one.
func (c Scale) seeds(s *study, kernel bool) []uint64 {
	seeds := []uint64{1, 2, 3}
	switch {
	case c == Quick, kernel && c != Full, s.fixed() && len(s.lab.Background) == 0 && s.lab.RTT.Per == "":
		return seeds[:1]
	case c == Standard, c == Headline:
		return seeds[:2]
	}
	return seeds
}

// loads lists the loads, in rising order: on a kernel at the standard scale without
// the lowest third.
func (c Scale) loads(s *study, kernel bool) []float64 {
	published := s.lab.Workload.Load
	loads := named(c.claims(s.Experiment), published)
	switch {
	case c == Full, len(published) == 1:
		loads = append(loads, published...)
	case c == Standard && kernel:
		loads = append(loads, thirds(published)[1:]...)
	case c == Standard:
		loads = append(loads, thirds(published)...)
	default:
		loads = append(loads, slices.Max(published))
	}
	slices.Sort(loads)
	return slices.Compact(loads)
}

// claims lists those of an experiment that the scale is for.
func (c Scale) claims(e papers.Experiment) []papers.Claim {
	if c != Headline {
		return e.Claims
	}
	return slices.DeleteFunc(slices.Clone(e.Claims), func(c papers.Claim) bool { return !c.Headline })
}

// covers tells whether the scale is for an experiment.
func (c Scale) covers(e papers.Experiment) bool { return c != Headline || len(c.claims(e)) > 0 }

// named lists the loads that claims name: their one load, or of those up to some
// load the highest that was published.
func named(claims []papers.Claim, published []float64) (loads []float64) {
	for _, c := range claims {
		if c.Load != 0 {
			loads = append(loads, c.Load)
		}
		if c.MaxLoad != 0 {
			below := slices.DeleteFunc(slices.Clone(published), func(l float64) bool { return !c.About(l) })
			if len(below) > 0 {
				loads = append(loads, slices.Max(below))
			}
		}
	}
	return loads
}

// affordable is how many flows a point may have so that the whole experiment
// takes so many seconds of one core.
func (p *Plan) affordable(s *study, seconds float64) (int, error) {
	total := 0.0
	for _, load := range s.lab.Workload.Load {
		flows, err := trafficgen.Trace(s.lab.Traffic(load, s.lab.Seeds[0]))
		if err != nil {
			return 0, fmt.Errorf("lab %s: %w", s.Lab, err)
		}
		total += p.cost(s.lab, flows) * float64(len(s.lab.Schemes)*len(s.lab.Seeds))
	}
	share := math.Min(1, seconds/total)
	return max(min(quickFlows, s.lab.Workload.Flows), int(share*float64(s.lab.Workload.Flows))), nil
}
