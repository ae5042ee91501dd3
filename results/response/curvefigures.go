package response

import (
	"cmp"
	"slices"
	"strings"

	"aqmlab/results"
	"aqmlab/results/report/figure"
)

// styleOf is the number of the style of a line, equal in all panels.
func (v *View) styleOf() map[string]int {
	styles := make(map[string]int)
	for _, p := range v.Panels {
		for _, l := range p.Lines {
			if _, ok := styles[l.Name()]; !ok {
				styles[l.Name()] = len(styles)
			}
		}
	}
	return styles
}

// curveFigures are a figure for each panel, all with the same axes.
func (v *View) curveFigures() (all []figure.Figure) {
	var estimates []results.Estimate
	var means []float64
	for _, p := range v.Panels {
		for _, l := range p.Lines {
			for _, place := range l.Places {
				estimates, means = append(estimates, place.Estimate), append(means, place.Estimate.Mean)
			}
		}
	}
	if len(means) == 0 {
		return nil
	}
	y, u := spanOf(means).axis(v.Metric)
	y = widened(y, u, estimates)
	at, x := v.Over[0].places()
	if len(x.Columns) > 0 {
		x.High = float64(len(x.Columns) - 1)
	}
	d := curveDrawing{v, at, x, y, u, v.styleOf()}
	for _, p := range v.Panels {
		all = append(all, d.draw(p))
	}
	return all
}

// curveDrawing is what the figures of all panels have in common.
type curveDrawing struct {
	*View
	at     []float64 // where the values of the axis lie
	x, y   figure.Axis
	unit   scale
	styles map[string]int
}

func (d curveDrawing) draw(p Panel) figure.Figure {
	f := figure.Figure{
		Name: stem("curve", d.Metric.Name, d.Over[0].Key, p.Held), Title: heading(d.Metric, p.Held),
		About: d.Metric.Doc + " against " + d.Over[0].Key + ", with 95 % intervals. " + p.Held, X: d.x, Y: d.y,
	}
	// Side by side, so that no interval hides another.
	apart := (d.x.High - d.x.Low) / 120
	if d.x.Log {
		apart = 0
	}
	for i, l := range p.Lines {
		s := figure.Series{Name: l.Name(), Style: d.styles[l.Name()], Form: figure.Joined}
		for _, place := range l.spread(d.at) {
			point := figure.Point{X: place.x + apart*(float64(i)-float64(len(p.Lines)-1)/2), Y: place.Estimate.Mean / d.unit.of}
			bound(&point, place.Estimate, d.y, d.unit)
			point.Note = strings.TrimSpace(l.Name()+" at "+place.Value) + ": " + explain(d.Metric, place.Estimate) + doubt(place.Low, place.Estimate.Count)
			s.Points = append(s.Points, point)
		}
		f.Series = append(f.Series, s)
	}
	if len(d.x.Columns) == 0 && !d.x.Log {
		beyond := apart * float64(len(p.Lines)) / 2
		f.X.Low, f.X.High = d.x.Low-beyond, d.x.High+beyond
	}
	return f
}

// placed is a place of a line with where it lies.
type placed struct {
	Place
	x float64
}

// spread finds the places of the line in the order of where they lie. What is flat
// begins and ends with the axis.
func (l Line) spread(at []float64) (out []placed) {
	if l.Flat {
		place := l.Places[0]
		place.Value = "any value"
		return []placed{{place, slices.Min(at)}, {place, slices.Max(at)}}
	}
	for _, p := range l.Places {
		out = append(out, placed{p, at[p.level]})
	}
	slices.SortFunc(out, func(a, b placed) int { return cmp.Compare(a.x, b.x) })
	return out
}
