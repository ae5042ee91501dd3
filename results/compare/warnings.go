package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
)

// minForP99 is how many flows a class needs so that ten lie beyond the p99.
const minForP99 = 1000

// warnings collects what a reader should know before trusting a comparison.
func (s *pointSet) warnings(c Comparison) []string {
	return slices.Concat(lowFidelity(c), incomplete(c), s.failedPrograms(), s.notShared(c), singleSeed(c), s.fewFlows(c))
}

func lowFidelity(c Comparison) (out []string) {
	for _, t := range c.Totals {
		if !t.Fidelity.Low() {
			continue
		}
		why := strings.Join(t.Fidelity.Reasons, "; ")
		if why == "" {
			why = fmt.Sprintf("p99 lateness %.0f %% of the base RTT, %d frames lost at the edge", t.Fidelity.ShareOfRTT*100, t.Fidelity.EdgeDrops)
		}
		out = append(out, fmt.Sprintf("%s at load %g is low-fidelity: %s", t.Scheme, t.Load, why))
	}
	return out
}

func incomplete(c Comparison) (out []string) {
	for _, t := range c.Totals {
		if lost := t.Flows - t.Completed; lost > 0 {
			out = append(out, fmt.Sprintf("%d of %d flows of %s at load %g did not complete and are in no FCT", lost, t.Flows, t.Scheme, t.Load))
		}
		if lost := t.Queries - t.QueriesCompleted; lost > 0 {
			out = append(out, fmt.Sprintf("%d of %d queries of %s at load %g did not complete and are in no QCT", lost, t.Queries, t.Scheme, t.Load))
		}
	}
	return out
}

// notShared names the points that a comparison had to leave out.
func (s *pointSet) notShared(c Comparison) (out []string) {
	for _, t := range c.Totals {
		common := commonSeeds(s.at(c.Baseline, t.Load), s.at(t.Scheme, t.Load))
		switch {
		case len(common) == 0:
			out = append(out, fmt.Sprintf("%s at load %g is not compared: the baseline %s has no seed in common with it there", t.Scheme, t.Load, c.Baseline))
		case len(common) < len(t.Seeds):
			out = append(out, fmt.Sprintf("%s at load %g is compared on %d of its %d seeds: the baseline %s has no more", t.Scheme, t.Load, len(common), len(t.Seeds), c.Baseline))
		}
	}
	return out
}

func singleSeed(c Comparison) []string {
	if len(c.Schemes) == 1 {
		return nil
	}
	var loads []string
	for _, t := range c.Totals {
		load := strconv.FormatFloat(t.Load, 'g', -1, 64)
		if len(t.Seeds) == 1 && !slices.Contains(loads, load) {
			loads = append(loads, load)
		}
	}
	if loads == nil {
		return nil
	}
	return []string{fmt.Sprintf("a single seed at load %s: the intervals do not hold what differs from seed to seed", strings.Join(loads, ", "))}
}

func (s *pointSet) fewFlows(c Comparison) (out []string) {
	verdicts := len(c.Schemes) > 1
	for _, load := range c.Loads {
		for _, st := range Statistics() {
			n := s.count(c.Baseline, load, st.Class)
			switch {
			case n == 0:
			case st.Metric == P99 && n < minForP99:
				out = append(out, fmt.Sprintf("p99 of class %s at load %g rests on %s: fewer than ten lie beyond it (1,000 needed)", st.Class, load, flows(n)))
			case verdicts && st.Metric == Mean && n < minPairs:
				out = append(out, fmt.Sprintf("class %s at load %g has %s: too few for a verdict (%d needed)", st.Class, load, flows(n), minPairs))
			}
		}
		out = append(out, fewQueries(c, load)...)
	}
	return out
}

// flows counts flows in words.
func flows(n int) string {
	if n == 1 {
		return "1 flow"
	}
	return strconv.Itoa(n) + " flows"
}

// fewQueries is about the baseline, as fewFlows is.
func fewQueries(c Comparison, load float64) []string {
	t, _ := c.Total(c.Baseline, load)
	switch n := t.QueriesCompleted; {
	case n == 0 || n >= minForP99:
		return nil
	case n < minPairs:
		return []string{fmt.Sprintf("load %g has %d complete queries: too few for a verdict (%d needed)", load, n, minPairs)}
	default:
		return []string{fmt.Sprintf("p99 of queries at load %g rests on %d: fewer than ten lie beyond it (1,000 needed)", load, n)}
	}
}

// count is how many flows of a class a scheme completed at a load.
func (s *pointSet) count(scheme string, load float64, c results.Class) (n int) {
	for _, p := range s.at(scheme, load) {
		n += len(results.FlowTimes(p.Flows, c))
	}
	return n
}

// failedPrograms names the programs that did not do as the lab expects.
func (s *pointSet) failedPrograms() (out []string) {
	for _, load := range s.loads {
		for _, scheme := range s.schemes {
			for _, p := range s.at(scheme, load) {
				for _, program := range p.Programs {
					if program.Error != "" {
						out = append(out, fmt.Sprintf("program %s of %v: %s; it is in no figure", program.Name, p.Coord, program.Error))
					}
				}
			}
		}
	}
	return out
}
