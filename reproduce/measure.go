package reproduce

import (
	"errors"
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
	if m.Paired != "" && c.Baseline != "" {
		f, err := a.paired(e, c, at)
		if c.In == "" || !errors.Is(err, compare.ErrTraces) {
			return f, err
		}
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
