package response

import (
	"fmt"

	"aqmlab/results/report/figure"
)

// frontFigures are a figure for each front: a dot a setting, and a line through those
// that no other beats.
func (v *View) frontFigures() (all []figure.Figure) {
	for _, f := range v.Fronts {
		if len(f.Settings) > 1 {
			all = append(all, v.frontFigure(f))
		}
	}
	return all
}

func (v *View) frontFigure(f Front) figure.Figure {
	var a, b []float64
	for _, s := range f.Settings {
		a, b = append(a, s.A.Mean), append(b, s.B.Mean)
	}
	x, ux := spanOf(a).axis(v.Front[0])
	y, uy := spanOf(b).axis(v.Front[1])
	out := figure.Figure{
		Name: stem("front", v.Front[0].Name, v.Front[1].Name, f.Condition), Title: v.Front[1].Name + " against " + heading(v.Front[0], f.Condition),
		About: fmt.Sprintf("%s against %s, a dot a setting; a line through those that no other beats. %s", v.Front[1].Doc, v.Front[0].Doc, f.Condition),
		X:     x, Y: y,
	}
	line := figure.Series{Style: 7, Form: figure.Plain}
	for i, s := range f.Ahead() {
		p := figure.Point{X: s.A.Mean / ux.of, Y: s.B.Mean / uy.of}
		if i > 0 { // what lies on or beyond the steps is beaten
			line.Points = append(line.Points, figure.Point{X: p.X, Y: line.Points[len(line.Points)-1].Y})
		}
		line.Points = append(line.Points, p)
	}
	out.Series = append(out.Series, line)
	for i, scheme := range v.grid.schemes {
		s := figure.Series{Name: scheme, Style: i, Form: figure.Dots}
		drawn := make(map[[2]int]bool)
		for _, set := range f.Settings {
			if set.Scheme != scheme {
				continue
			}
			p := figure.Point{X: set.A.Mean / ux.of, Y: set.B.Mean / uy.of, Note: v.frontNote(set)}
			// Of many dots of one scheme on one spot, one is enough.
			spot := [2]int{int(50 * (p.X - x.Low) / (x.High - x.Low + 1e-9)), int(50 * (p.Y - y.Low) / (y.High - y.Low + 1e-9))}
			if len(f.Settings) < 200 || set.Front || !drawn[spot] {
				s.Points = append(s.Points, p)
			}
			drawn[spot] = true
		}
		if len(s.Points) > 0 {
			out.Series = append(out.Series, s)
		}
	}
	return out
}

func (v *View) frontNote(s Setting) string {
	return fmt.Sprintf("%s: %s %s, %s %s", s.Name(), v.Front[0].Name, showEstimate(v.Front[0], s.A), v.Front[1].Name, showEstimate(v.Front[1], s.B)) + doubt(s.Low, s.A.Count)
}
