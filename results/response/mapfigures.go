package response

import (
	"fmt"
	"math"

	"aqmlab/results/report/figure"
)

// mapFigures are a figure for each map. Each has its own shades.
func (v *View) mapFigures() (all []figure.Figure) {
	for _, m := range v.Maps {
		x, y := v.Over[0], v.Over[1]
		var means []float64
		for _, s := range m.Spots {
			means = append(means, s.Estimate.Mean)
		}
		r := spanOf(means)
		u := scaleOf(v.Metric, r.high)
		heat := &figure.Heat{Log: r.log()}
		for _, s := range m.Spots {
			heat.Fields = append(heat.Fields, figure.Field{
				Row: s.row, Column: s.column, Value: s.Estimate.Mean, Text: short(s.Estimate.Mean / u.of), Framed: s.Best,
				Note: fmt.Sprintf("%s %s, %s %s: %s", v.grid.short(v.over[0]), s.X, v.grid.short(v.over[1]), s.Y, explain(v.Metric, s.Estimate)+doubt(s.Low, s.Estimate.Count)),
			})
		}
		all = append(all, figure.Figure{
			Name: stem("map", v.Metric.Name, x.Key, y.Key, m.Name()), Title: titled(v.Metric.Name, u.name) + ", " + m.Name(),
			About: fmt.Sprintf("%s in %s, by %s and %s", v.Metric.Doc, u.name, x.Key, y.Key),
			X:     figure.Axis{Title: x.Key, Columns: x.Values},
			Y:     figure.Axis{Title: v.grid.short(v.over[1]), Rows: y.Values}, Heat: heat,
		})
	}
	return all
}

// short prints a number with three significant digits, and all of its whole ones.
func short(v float64) string {
	decimals := 0
	if abs := math.Abs(v); abs > 0 && abs < 100 {
		decimals = min(6, 2-int(math.Floor(math.Log10(abs))))
	}
	return fmt.Sprintf("%.*f", decimals, v)
}
