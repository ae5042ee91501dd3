package report

import (
	"fmt"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
)

// on puts a course on axes in other units.
func on(course []results.XY, x, y unit) []figure.Point {
	out := make([]figure.Point, len(course))
	for i, p := range course {
		out[i] = figure.Point{X: p.X / x.of, Y: p.Y / y.of}
	}
	return out
}

// queueFigures draws one panel a scheme, all to the same scales.
func queueFigures(c compare.Comparison, series []results.Occupancy, file string) []figure.Figure {
	var end, top float64
	for _, o := range series {
		for _, p := range o.Peak {
			end, top = max(end, p.X), max(top, p.Y)
		}
	}
	x, y := timeUnit(0, end), unit{"KB", 1}
	if top >= 1e4 {
		y = unit{"MB", 1e3}
	}
	var figures []figure.Figure
	for _, o := range series {
		if len(o.Mean) == 0 {
			continue
		}
		n := style(c, o.Scheme)
		figures = append(figures, figure.Figure{
			Name: stem("queue", o.Scheme, file), Title: o.Scheme, About: "Queue length over time under " + o.Scheme,
			X: figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: end / x.of},
			Y: figure.Axis{Title: fmt.Sprintf("queue length (%s)", y.name), High: top / y.of},
			Series: []figure.Series{
				{Name: "peak", Style: n, Form: figure.Shade, Points: on(o.Peak, x, y)},
				{Name: o.Scheme + ", mean", Style: n, Form: figure.Plain, Points: on(o.Mean, x, y)},
			},
		})
	}
	return figures
}
