package compare

import (
	"fmt"
	"slices"

	"aqmlab/results"
)

// Points compares schemes that replayed the same traces, flow by flow, with
// the baseline; "" stands for the first scheme. One scheme alone is not an
// error: the comparison then holds its values.
//
// It refuses, saying why, when a point is there twice, when schemes did not
// replay the same flows ([ErrTraces]), and when no scheme has a load and seed in common with
// the baseline.
func Points(points []results.Point, baseline string) (Comparison, error) {
	set, err := newPointSet(points, baseline)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Baseline: set.schemes[0], Schemes: set.schemes, Loads: set.loads, Rows: []Row{}, Differences: []Difference{}}
	compared := 0
	for _, load := range set.loads {
		for _, s := range set.schemes {
			mine := set.at(s, load)
			if len(mine) == 0 {
				continue
			}
			c.Totals = append(c.Totals, totalOf(mine))
			common := commonSeeds(set.at(c.Baseline, load), mine)
			if len(common) == 0 {
				continue
			}
			if s != c.Baseline {
				compared++
			}
			c.Rows = append(c.Rows, compareTo(common)...)
			c.Programs = append(c.Programs, comparePrograms(common)...)
		}
	}
	if compared == 0 && len(set.schemes) > 1 {
		return Comparison{}, fmt.Errorf("nothing to compare: no scheme has a load and seed in common with the baseline %s", c.Baseline)
	}
	c.Warnings = set.warnings(c)
	return c, nil
}

// compareTo compares the two schemes of some traces, by their flows and by their
// queries.
func compareTo(common []replayed) []Row {
	var flows, queries [][]pair
	for _, r := range common {
		flows = append(flows, flowPairs(r))
		if q := queryPairs(r); len(q) > 0 {
			queries = append(queries, q)
		}
	}
	to := common[0].other.Coord
	same := to.Scheme == common[0].base.Scheme
	rows := slices.Concat(rowsOf(flows, Statistics(), same), rowsOf(queries, QueryStatistics(), same))
	for i := range rows {
		rows[i].Scheme, rows[i].Load = to.Scheme, to.Load
	}
	return rows
}

func totalOf(points []results.Point) Total {
	t := Total{Scheme: points[0].Scheme, Load: points[0].Load, Fidelity: points[0].Fidelity}
	var probes []results.ProbeSample
	for _, p := range points {
		info := results.InfoOf(p)
		queries := results.QueriesOf(p.Flows)
		t.Queries += len(queries)
		t.QueriesCompleted += len(results.CompletionTimes(queries))
		probes = append(probes, p.Probes...)
		t.Seeds = append(t.Seeds, p.Seed)
		t.Flows += info.Flows
		t.Completed += info.Completed
		t.Fidelity = results.WorstOf(t.Fidelity, p.Fidelity)
	}
	t.Counts, t.TimedOut = results.CountsOf(points...), timedOut(points)
	t.Services, t.Probes = results.MeanGoodput(points), results.SummarizeProbes(probes)
	return t
}

// timedOut adds up what [TimedOut] says of points.
func timedOut(points []results.Point) int {
	all := 0
	for _, p := range points {
		n, ok := results.TimedOut(p.Flows)[results.All]
		if !ok {
			return results.Unknown
		}
		all += n
	}
	return all
}
