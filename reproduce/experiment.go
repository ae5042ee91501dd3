package reproduce

import (
	"fmt"
	"slices"

	"aqmlab/labs"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// experiment is a published experiment at the plan's scale. One that has several
// labs stands in the plan once for each, with the claims that are about that lab.
type experiment struct {
	papers.Experiment
	paper     string
	lab       *labs.Lab
	published int // flows a point, before they are scaled
	labs      int // of the published experiment
	// scored is set for an experiment that was asked for, and not only for being
	// the baseline of another's claim.
	scored       bool
	loads        []float64                // of the scale, before only some of them were asked for
	fingerprints map[results.Coord]string // of the lab, by what of it is run
}

// String names the experiment, and which of its labs where it has several.
func (e *experiment) String() string {
	if e.labs > 1 {
		return fmt.Sprintf("%s (%s)", e.ID, e.Lab)
	}
	return e.ID
}

// check wants a known metric for every claim that is measured, and schemes that the
// lab has. A baseline in another experiment is not looked for here.
func (e *experiment) check() error {
	for _, c := range e.Claims {
		if !metric.NeedsRuns(c) {
			continue
		}
		if _, err := metric.Find(c.Metric); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
		names := c.Schemes()
		if c.In == "" && c.Baseline != "" {
			names = append(names, c.Baseline)
		}
		for _, name := range names {
			if !slices.ContainsFunc(e.lab.Schemes, func(l labs.Scheme) bool { return l.Name == name }) {
				return fmt.Errorf("%s: lab %s has no scheme %s", c.ID, e.Lab, name)
			}
		}
	}
	return nil
}

// fixed tells whether the lab's traffic is given flow by flow, so that neither the
// number of flows nor the load of a scale applies.
func (e *experiment) fixed() bool {
	return slices.Contains([]string{"static", "trace"}, e.lab.Workload.Arrival.Kind)
}

// asAsked tells whether points have no more flows than are asked for: flows come one by one, and
// there are no others beside them.
func (e *experiment) asAsked() bool {
	return e.lab.Workload.Arrival.Kind == "poisson" && len(e.lab.Background) == 0
}

// fingerprint is the hash of the lab with one scheme at one load, whatever the seed, at
// the published number of flows. The title does not count.
func (e *experiment) fingerprint(at results.Coord) (string, error) {
	at.Seed = 0
	if h, ok := e.fingerprints[at]; ok {
		return h, nil
	}
	one, err := e.lab.Restricted([]string{at.Scheme}, at.Load, 1)
	if err != nil {
		return "", err
	}
	one.Workload.Flows, one.Title, one.Baseline = e.published, "", at.Scheme
	e.fingerprints[at] = one.Hash()
	return e.fingerprints[at], nil
}
