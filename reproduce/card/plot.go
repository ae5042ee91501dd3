package card

import (
	"fmt"
	"slices"

	"aqmlab/labs"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/reproduce/record"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
)

// statistic is a figure of completion times that claims compare schemes by.
type statistic struct {
	class  string
	metric compare.Metric
}

func (s statistic) title() string {
	name := map[compare.Metric]string{compare.Mean: "mean", compare.P99: "99th percentile"}[s.metric]
	return fmt.Sprintf("%s FCT of %s flows", name, s.class)
}

// value is the statistic of a point; ok is false when no flow of the class completed.
func (s statistic) value(k record.Point) (us float64, ok bool) {
	f := k.FCT[s.class]
	if len(f) != 2 {
		return 0, false
	}
	if s.metric == compare.P99 {
		return f[1], true
	}
	return f[0], true
}

// statistics lists those that claims are about.
func statistics(claims []papers.Claim) (all []statistic) {
	for _, c := range claims {
		m, err := metric.Find(c.Metric)
		if err != nil || m.Paired == "" || m.Only != nil || c.Unmeasured != "" {
			continue
		}
		if one := (statistic{c.Class, m.Paired}); !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}

// Plots draws completion times against the load, as the papers do: relative to the
// lab's baseline, for each statistic that claims are about and each runtime with two
// loads or more. The title says which experiment it is; the points are of the lab.
func Plots(title string, lab *labs.Lab, claims []papers.Claim, points []record.Point) (figures []figure.Figure) {
	for _, stat := range statistics(claims) {
		for _, runtime := range Runtimes() {
			measured := slices.DeleteFunc(slices.Clone(points), func(p record.Point) bool { return p.Runtime != string(runtime) })
			if f, ok := plot(stat, lab, measured); ok {
				f.Name = fmt.Sprintf("%s_%s-%s-%s", lab.Name, stat.class, stat.metric, runtime)
				f.About = fmt.Sprintf("%s against the load, %s, %s", stat.title(), title, runtime)
				figures = append(figures, f)
			}
		}
	}
	return figures
}

// plot draws one statistic; ok is false when no scheme but the baseline has it at
// two loads.
func plot(stat statistic, lab *labs.Lab, points []record.Point) (f figure.Figure, ok bool) {
	f = figure.Figure{
		Title: stat.title(), Rule: 1,
		X: figure.Axis{Title: "offered load", Low: 1, High: 0},
		Y: figure.Axis{Title: "FCT / FCT of " + lab.Baseline, Low: 1, High: 1},
	}
	for i, scheme := range lab.Schemes {
		series := figure.Series{Name: scheme.Name, Style: i, Form: figure.Joined}
		for _, load := range loadsOf(points) {
			ratio, found := stat.ratio(points, lab.Baseline, scheme.Name, load)
			if !found {
				continue
			}
			series.Points = append(series.Points, figure.Point{X: load, Y: ratio, Note: fmt.Sprintf("%s at %v: %.3f", scheme.Name, load, ratio)})
			f.X.Low, f.X.High = min(f.X.Low, load), max(f.X.High, load)
			f.Y.Low, f.Y.High = min(f.Y.Low, ratio), max(f.Y.High, ratio)
		}
		ok = ok || len(series.Points) > 1 && scheme.Name != lab.Baseline
		if len(series.Points) > 0 {
			f.Series = append(f.Series, series)
		}
	}
	return f, ok
}

func loadsOf(points []record.Point) (loads []float64) {
	for _, k := range points {
		loads = append(loads, k.Load)
	}
	slices.Sort(loads)
	return slices.Compact(loads)
}

// ratio is a scheme's statistic over the baseline's, both as means of the seeds
// that both have with the same number of flows.
func (s statistic) ratio(points []record.Point, baseline, scheme string, load float64) (float64, bool) {
	mine, base := 0.0, 0.0
	for _, k := range points {
		if k.Scheme != scheme || k.Load != load {
			continue
		}
		for _, o := range points {
			if o.Scheme != baseline || o.Load != k.Load || o.Seed != k.Seed || o.Flows != k.Flows {
				continue
			}
			a, ok := s.value(k)
			b, ok2 := s.value(o)
			if ok && ok2 {
				mine, base = mine+a, base+b
			}
		}
	}
	return mine / base, base > 0
}
