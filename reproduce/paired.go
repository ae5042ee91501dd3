package reproduce

import (
	"fmt"
	"slices"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results"
	"aqmlab/results/compare"
)

// paired compares flow by flow. The error wraps [compare.ErrTraces] where the baseline
// is of an experiment with other flows.
func (a *archive) paired(e *experiment, c papers.Claim, at results.Coord) (record.Figure, error) {
	m, _ := metric.Find(c.Metric)
	compared, err := a.compare(e, c, at)
	if err != nil {
		return record.Figure{}, err
	}
	class, baseline := results.Class(c.Class), baselineName(c)
	if m.Only != nil {
		class = results.All // of those that were left
	}
	row, ok := compared.Row(at.Scheme, at.Load, class, m.Paired)
	from, ok2 := compared.Row(baseline, at.Load, class, m.Paired)
	total, ok3 := compared.Total(at.Scheme, at.Load)
	if !ok || !ok2 || !ok3 {
		return record.Figure{}, fmt.Errorf("%w: no flow of class %s completed", metric.ErrNothing, c.Class)
	}
	return record.Figure{
		Value: record.Number(row.Difference), CI95: &[2]record.Number{record.Number(row.CI95[0]), record.Number(row.CI95[1])},
		From: record.Number(from.Value), To: record.Number(row.Value),
		Seeds: len(total.Seeds), LowFidelity: total.Fidelity.Label == results.FidelityLow,
	}, nil
}

// compare compares a scheme with a claim's baseline at a load, once for all claims that ask
// for the same.
func (a *archive) compare(e *experiment, c papers.Claim, at results.Coord) (compare.Comparison, error) {
	m, _ := metric.Find(c.Metric)
	of := a.plan.baselineOf(e, c)
	asked := comparison{lab: e.lab, base: of.lab, baseline: c.Baseline, Coord: at}
	if m.Only != nil {
		asked.metric = m.Name
	}
	if c, ok := a.compared[asked]; ok {
		return c, nil
	}
	mine, err := a.read(e, at, false)
	if err != nil {
		return compare.Comparison{}, err
	}
	base, err := a.read(of, results.Coord{Scheme: c.Baseline, Load: at.Load}, false)
	if err != nil {
		return compare.Comparison{}, err
	}
	if !slices.ContainsFunc(mine, func(m results.Point) bool {
		return slices.ContainsFunc(base, func(b results.Point) bool { return b.Seed == m.Seed })
	}) {
		return compare.Comparison{}, metric.ErrNotRun
	}
	for i := range base {
		base[i].Scheme = baselineName(c)
	}
	all := append(base, mine...)
	if m.Only != nil {
		for i := range all {
			all[i].Flows = slices.DeleteFunc(slices.Clone(all[i].Flows), func(f results.Flow) bool { return !m.Only(f) })
		}
	}
	compared, err := compare.Points(all, baselineName(c))
	if err == nil {
		a.compared[asked] = compared
	}
	return compared, err
}

// baselineName tells the baseline of a claim from the scheme: another experiment may have
// it under the same name.
func baselineName(c papers.Claim) string {
	if c.In == "" {
		return c.Baseline
	}
	return c.Baseline + " of " + c.In
}
