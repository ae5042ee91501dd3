package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"aqmlab/reproduce/papers"
	"aqmlab/trafficgen"
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

// scale cuts the lab of an experiment down, and warns of how much is left where
// that is less than the scale promises.
func (o Options) scale(e *experiment) (warning string, err error) {
	l := e.lab
	l.Seeds = o.seeds(e)
	e.loads = l.Workload.Load
	if !e.fixed() {
		e.loads = o.scaleLoads(e)
	}
	l.Workload.Load = slices.DeleteFunc(slices.Clone(e.loads), func(load float64) bool {
		return len(o.Loads) > 0 && !slices.Contains(o.Loads, load)
	})
	flows := l.Workload.Flows
	switch {
	case e.fixed():
	case o.Flows > 0:
		flows = o.Flows
	case o.Scale == Standard && !o.modelled():
		flows = kernelFlows
	case o.Scale == Standard:
		flows = standardFlows
	case o.Scale == Quick:
		if flows, err = o.affordable(e, quickBudget/float64(e.labs)); err != nil {
			return "", err
		}
		if flows < l.Workload.Flows {
			warning = fmt.Sprintf("%s: %d flows a point, the lab has %d", e, flows, l.Workload.Flows)
		}
	}
	l.Workload.Flows = min(l.Workload.Flows, flows)
	return warning, nil
}

// seeds lists the seeds. Traffic that is the same with any seed has one.
func (o Options) seeds(e *experiment) []uint64 {
	seeds := []uint64{1, 2, 3}
	switch {
	case o.Scale == Quick, !o.modelled() && o.Scale != Full, e.fixed() && len(e.lab.Background) == 0 && e.lab.RTT.Per == "":
		return seeds[:1]
	case o.Scale == Standard, o.Scale == Headline:
		return seeds[:2]
	}
	return seeds
}

// scaleLoads lists the loads of the scale, in rising order: on a kernel at the
// standard scale without the lowest third.
func (o Options) scaleLoads(e *experiment) []float64 {
	published := e.lab.Workload.Load
	loads := namedLoads(o.Scale.claims(e.Experiment), published)
	switch {
	case o.Scale == Full, len(published) == 1:
		loads = append(loads, published...)
	case o.Scale == Standard && !o.modelled():
		loads = append(loads, thirds(published)[1:]...)
	case o.Scale == Standard:
		loads = append(loads, thirds(published)...)
	default:
		loads = append(loads, slices.Max(published))
	}
	slices.Sort(loads)
	return slices.Compact(loads)
}

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

// namedLoads lists the loads that claims name: their one load, or of those up to
// some load the highest that was published.
func namedLoads(claims []papers.Claim, published []float64) (loads []float64) {
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

// claims lists those of an experiment that the scale is for.
func (s Scale) claims(e papers.Experiment) []papers.Claim {
	if s != Headline {
		return e.Claims
	}
	return slices.DeleteFunc(slices.Clone(e.Claims), func(c papers.Claim) bool { return !c.Headline })
}

// covers tells whether the scale is for an experiment.
func (s Scale) covers(e papers.Experiment) bool { return s != Headline || len(s.claims(e)) > 0 }

// affordable is how many flows a point may have so that the whole experiment
// takes so many seconds of one core.
func (o Options) affordable(e *experiment, seconds float64) (int, error) {
	total := 0.0
	for _, load := range e.lab.Workload.Load {
		flows, err := trafficgen.Trace(e.lab.Traffic(load, e.lab.Seeds[0]))
		if err != nil {
			return 0, fmt.Errorf("lab %s: %w", e.Lab, err)
		}
		total += o.cost(e.lab, flows) * float64(len(e.lab.Schemes)*len(e.lab.Seeds))
	}
	share := math.Min(1, seconds/total)
	return max(min(quickFlows, e.lab.Workload.Flows), int(share*float64(e.lab.Workload.Flows))), nil
}
