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

// side is one of the two sides of a comparison: points, and the claim as it is taken
// of them.
type side struct {
	experiment *experiment
	claim      papers.Claim
	points     []results.Point
}

// measure takes a claim's figure for one scheme at one load. The error wraps
// [metric.ErrNothing] where there is none.
func (a *archive) measure(e *experiment, c papers.Claim, at results.Coord) (record.Figure, error) {
	m, _ := metric.Find(c.Metric) // the plan has checked it
	if m.Paired != "" && c.Baseline != "" && c.In == "" {
		return a.paired(e, c, at)
	}
	points, err := a.read(e, at, m.Samples)
	if err != nil {
		return record.Figure{}, err
	}
	mine := side{e, c, points}
	if c.Baseline == "" {
		return absolute(mine)
	}
	base := side{experiment: a.plan.baselineOf(e, c), claim: c.OfBase()}
	if base.points, err = a.read(base.experiment, results.Coord{Scheme: c.Baseline, Load: at.Load}, m.Samples); err != nil {
		return record.Figure{}, err
	}
	return unpaired(mine, base)
}

// read reads the points of a scheme at a load, with or without their queue samples.
func (a *archive) read(e *experiment, at results.Coord, samples bool) ([]results.Point, error) {
	all, err := a.find(e, at)
	if err != nil {
		return nil, err
	}
	var points []results.Point
	for _, s := range all {
		read := s.point.ReadFlows
		if samples {
			read = s.point.Read
		}
		point, err := read()
		if err != nil {
			return nil, err
		}
		points = append(points, point)
	}
	if len(points) == 0 {
		return nil, metric.ErrNotRun
	}
	return points, nil
}

// paired compares flow by flow.
func (a *archive) paired(e *experiment, c papers.Claim, at results.Coord) (record.Figure, error) {
	m, _ := metric.Find(c.Metric)
	compared, err := a.compare(e, c.Baseline, at)
	if err != nil {
		return record.Figure{}, err
	}
	row, ok := compared.Row(at.Scheme, at.Load, results.Class(c.Class), m.Paired)
	from, ok2 := compared.Row(c.Baseline, at.Load, results.Class(c.Class), m.Paired)
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

// compare compares two schemes at a load, once for all claims that ask.
func (a *archive) compare(e *experiment, baseline string, at results.Coord) (compare.Comparison, error) {
	asked := comparison{e.lab, baseline, at}
	if c, ok := a.compared[asked]; ok {
		return c, nil
	}
	mine, err := a.read(e, at, false)
	if err != nil {
		return compare.Comparison{}, err
	}
	base, err := a.read(e, results.Coord{Scheme: baseline, Load: at.Load}, false)
	if err != nil {
		return compare.Comparison{}, err
	}
	if !slices.ContainsFunc(mine, func(m results.Point) bool {
		return slices.ContainsFunc(base, func(b results.Point) bool { return b.Seed == m.Seed })
	}) {
		return compare.Comparison{}, metric.ErrNotRun
	}
	c, err := compare.Points(append(base, mine...), baseline)
	if err == nil {
		a.compared[asked] = c
	}
	return c, err
}

// figure is that of a point of the side.
func (s side) figure(point results.Point) (float64, error) {
	m, _ := metric.Find(s.claim.Metric)
	return m.Compute(metric.Subject{Claim: s.claim, Point: point, Lab: s.experiment.lab})
}

// absolute is a figure by itself, or its difference from a constant.
func absolute(mine side) (record.Figure, error) {
	c, e := mine.claim, mine.experiment
	m, _ := metric.Find(c.Metric)
	if flows := e.lab.Workload.Flows; m.Total && flows < e.published {
		return record.Figure{}, fmt.Errorf("%w at the published %d flows a point, but at %d", metric.ErrNothing, e.published, flows)
	}
	var values []float64
	var from, to float64
	for _, point := range mine.points {
		v, err := mine.figure(point)
		if err != nil {
			return record.Figure{}, err
		}
		to += v / float64(len(mine.points))
		if c.Relation.Relative() {
			from = *c.From
			v = metric.Difference(from, v)
		}
		values = append(values, v)
	}
	f := overSeeds(values, mine.points)
	f.Runs = differentRuns(mine.points)
	f.From, f.To = record.Number(from), record.Number(to)
	return f, nil
}

// unpaired compares the means over the seeds that both sides have.
func unpaired(mine, base side) (record.Figure, error) {
	m, _ := metric.Find(mine.claim.Metric)
	if a, b := mine.experiment.lab.Workload.Flows, base.experiment.lab.Workload.Flows; m.Total && a != b {
		return record.Figure{}, fmt.Errorf("%w on equal terms: %d flows a point, and %d in %s", metric.ErrNothing, a, b, base.experiment.ID)
	}
	var values, bases []float64
	for _, point := range mine.points {
		for _, other := range base.points {
			if other.Seed != point.Seed {
				continue
			}
			v, err := mine.figure(point)
			if err != nil {
				return record.Figure{}, err
			}
			b, err := base.figure(other)
			if err != nil {
				return record.Figure{}, err
			}
			values, bases = append(values, v), append(bases, b)
		}
	}
	if len(values) == 0 {
		return record.Figure{}, metric.ErrNotRun
	}
	f := overSeeds(values, slices.Concat(base.points, mine.points))
	from, to := results.EstimateOf(bases).Mean, results.EstimateOf(values).Mean
	f.From, f.To, f.Value = record.Number(from), record.Number(to), record.Number(metric.Difference(from, to))
	f.CI95, f.Runs = differenceInterval(bases, values), differentRuns(mine.points)
	return f, nil
}

// differentRuns counts the points whose flows started or went otherwise than those of all
// points before them. Traffic that no seed changes is one run, whatever the seeds.
func differentRuns(points []results.Point) (n int) {
	for i, p := range points {
		if !slices.ContainsFunc(points[:i], func(o results.Point) bool { return slices.Equal(o.Flows, p.Flows) }) {
			n++
		}
	}
	return n
}
