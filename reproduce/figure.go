package reproduce

import (
	"fmt"
	"math"
	"slices"

	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/results/compare"
)

// Figure is what was measured for a claim: for one about a baseline the
// difference from it in percent, for others the figure itself in its unit.
type Figure struct {
	Value float64
	// CI95 is the 95 % interval of Value: of pairs of flows where these are
	// compared, else of the seeds. HasCI is false with a single seed of these.
	CI95  [2]float64
	HasCI bool
	// From and To are the figures of the baseline and of the scheme, in their
	// unit; To alone without a baseline.
	From, To    float64
	Scheme      string
	Load        float64
	Flows       int // a point
	Seeds       int
	LowFidelity bool // some point of it is labelled so
	Stale       bool // the lab, or what the claim is about, has changed since
}

// spot is where a claim is measured.
type spot struct {
	scheme string
	load   float64
}

// errMissing says that a point has not been run.
var errMissing = fmt.Errorf("%w: no point that it is about has been run", metric.ErrNothing)

// at measures a claim for one scheme at one load.
func (p *Plan) at(have *stored, s *study, c papers.Claim, at spot) (Figure, error) {
	m, _ := metric.Find(c.Metric) // the plan has checked it
	if m.Paired != "" && c.Baseline != "" && c.In == "" {
		return have.paired(s, c, at)
	}
	mine, err := have.read(s, at, m.Samples)
	if err != nil {
		return Figure{}, err
	}
	if c.Baseline == "" {
		return absolute(s, c, at, mine)
	}
	other := s
	if c.In != "" {
		other = p.study(c.In)
	}
	base, err := have.read(other, spot{c.Baseline, at.load}, m.Samples)
	if err != nil {
		return Figure{}, err
	}
	return unpaired(pair{s, other, c, m}, at, base, mine)
}

// find finds the points of a scheme at a load, of all seeds that are stored.
func (have *stored) find(s *study, at spot) ([]found, error) {
	var points []found
	for _, seed := range s.lab.Seeds {
		key, err := s.lab.PointKey(at.scheme, at.load, seed)
		if err != nil {
			return nil, err
		}
		if f, ok := have.points[key]; ok {
			points = append(points, f)
		}
	}
	return points, nil
}

// read reads those points, with or without their queue samples.
func (have *stored) read(s *study, at spot, samples bool) ([]results.Point, error) {
	all, err := have.find(s, at)
	if err != nil {
		return nil, err
	}
	var points []results.Point
	for _, f := range all {
		read := f.point.ReadFlows
		if samples {
			read = f.point.Read
		}
		point, err := read()
		if err != nil {
			return nil, err
		}
		points = append(points, point)
	}
	if len(points) == 0 {
		return nil, errMissing
	}
	return points, nil
}

// absolute is a figure by itself, or its difference from a constant.
func absolute(s *study, c papers.Claim, at spot, mine []results.Point) (Figure, error) {
	m, _ := metric.Find(c.Metric)
	f := Figure{Scheme: at.scheme, Load: at.load}
	if flows := s.lab.Workload.Flows; m.Total && flows < s.published {
		return f, fmt.Errorf("%w at the published %d flows a point, but at %d", metric.ErrNothing, s.published, flows)
	}
	var values []float64
	for _, point := range mine {
		v, err := m.Compute(metric.Subject{Claim: c, Point: point, Lab: s.lab})
		if err != nil {
			return f, err
		}
		f.To += v / float64(len(mine))
		if c.Relation.Relative() {
			v = metric.Difference(*c.From, v)
		}
		values = append(values, v)
	}
	if c.Relation.Relative() {
		f.From = *c.From
	}
	return f.over(values, mine), nil
}

// paired compares flow by flow.
func (have *stored) paired(s *study, c papers.Claim, at spot) (Figure, error) {
	m, _ := metric.Find(c.Metric)
	compared, err := have.compare(s, c.Baseline, at)
	if err != nil {
		return Figure{}, err
	}
	row, ok := compared.Row(at.scheme, at.load, results.Class(c.Class), m.Paired)
	from, ok2 := compared.Row(c.Baseline, at.load, results.Class(c.Class), m.Paired)
	total, ok3 := compared.Total(at.scheme, at.load)
	if !ok || !ok2 || !ok3 {
		return Figure{}, fmt.Errorf("%w: no flow of class %s completed", metric.ErrNothing, c.Class)
	}
	return Figure{
		Value: row.Difference, CI95: row.CI95, HasCI: true,
		From: from.Value, To: row.Value,
		Scheme: at.scheme, Load: at.load, Seeds: len(total.Seeds),
		LowFidelity: total.Fidelity.Label == results.FidelityLow,
	}, nil
}

// compare compares two schemes at a load, once for all claims that ask.
func (have *stored) compare(s *study, baseline string, at spot) (compare.Comparison, error) {
	asked := comparison{s.lab, baseline, at}
	if c, ok := have.compared[asked]; ok {
		return c, nil
	}
	mine, err := have.read(s, at, false)
	if err != nil {
		return compare.Comparison{}, err
	}
	base, err := have.read(s, spot{baseline, at.load}, false)
	if err != nil {
		return compare.Comparison{}, err
	}
	if !slices.ContainsFunc(mine, func(m results.Point) bool { return hasSeed(base, m.Seed) }) {
		return compare.Comparison{}, errMissing
	}
	c, err := compare.Points(append(base, mine...), baseline)
	if err == nil {
		have.compared[asked] = c
	}
	return c, err
}

func hasSeed(points []results.Point, seed uint64) bool {
	return slices.ContainsFunc(points, func(p results.Point) bool { return p.Seed == seed })
}

// pair is what is compared of two experiments, which may be one.
type pair struct {
	mine, base *study
	claim      papers.Claim
	kind       metric.Kind
}

// unpaired compares seed by seed: those that both have.
func unpaired(p pair, at spot, base, mine []results.Point) (Figure, error) {
	f := Figure{Scheme: at.scheme, Load: at.load}
	if a, b := p.mine.lab.Workload.Flows, p.base.lab.Workload.Flows; p.kind.Total && a != b {
		return f, fmt.Errorf("%w on equal terms: %d flows a point, and %d in %s", metric.ErrNothing, a, b, p.base.ID)
	}
	var values []float64
	var from, to float64
	for _, point := range mine {
		for _, other := range base {
			if other.Seed != point.Seed {
				continue
			}
			v, err := p.kind.Compute(metric.Subject{Claim: p.claim, Point: point, Lab: p.mine.lab})
			if err != nil {
				return f, err
			}
			b, err := p.kind.Compute(metric.Subject{Claim: p.claim.OfBase(), Point: other, Lab: p.base.lab})
			if err != nil {
				return f, err
			}
			values, from, to = append(values, metric.Difference(b, v)), from+b, to+v
		}
	}
	if len(values) == 0 {
		return f, errMissing
	}
	f = f.over(values, append(base, mine...))
	f.From, f.To, f.Value = from/float64(len(values)), to/float64(len(values)), metric.Difference(from, to)
	return f, nil
}

// over takes the mean of values, one a seed, and its interval.
func (f Figure) over(values []float64, of []results.Point) Figure {
	n := float64(len(values))
	for _, v := range values {
		f.Value += v / n
	}
	f.Seeds = len(values)
	if f.HasCI = len(values) > 1 && !math.IsInf(f.Value, 0); f.HasCI {
		squares := 0.0
		for _, v := range values {
			squares += (v - f.Value) * (v - f.Value)
		}
		half := student(len(values)-1) * math.Sqrt(squares/(n-1)/n)
		f.CI95 = [2]float64{f.Value - half, f.Value + half}
	}
	f.label(of)
	return f
}

// student is the 97.5 % quantile of Student's t. The scales have three seeds at
// most.
func student(df int) float64 {
	if df == 1 {
		return 12.706
	}
	return 4.303
}

// label notes whether any of the points is labelled low-fidelity.
func (f *Figure) label(points []results.Point) {
	for _, p := range points {
		f.LowFidelity = f.LowFidelity || p.Fidelity.Label == results.FidelityLow
	}
}
