package response

import (
	"slices"
	"strings"

	"aqmlab/results"
	"aqmlab/results/report/figure"
)

// Figures are all figures, what was asked for first: the maps if two axes were named,
// else the curves; then the others, then the fronts.
func (v *View) Figures() []figure.Figure {
	if v.mapped {
		return slices.Concat(v.mapFigures(), v.curveFigures(), v.frontFigures())
	}
	return slices.Concat(v.curveFigures(), v.mapFigures(), v.frontFigures())
}

// stem joins words to the name of a figure's files.
func stem(words ...string) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ',' || r <= ' ' {
			return '-'
		}
		return r
	}, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), "-"))
	return strings.ReplaceAll(name, "--", "-")
}

// heading is a metric, and where it is.
func heading(m results.Metric, where string) string {
	if where == "" {
		return m.Name
	}
	return m.Name + ", " + where
}

// span is the lowest and the highest of values.
type span struct{ low, high float64 }

func spanOf(values []float64) span { return span{slices.Min(values), slices.Max(values)} }

// log tells whether values are better shown by their logarithms.
func (s span) log() bool { return s.low > 0 && s.high/s.low >= wide }

// axis is an axis for means of a metric. Intervals may go beyond, by as much as means
// reach.
func (s span) axis(m results.Metric) (figure.Axis, scale) {
	u := scaleOf(m, s.high)
	a := figure.Axis{Title: titled(m.Name, u.name), Low: s.low / u.of, High: s.high / u.of, Log: s.log()}
	if !a.Log && s.low >= 0 && s.low < s.high/2 {
		a.Low = 0
	}
	return a, u
}

// bound puts the interval of an estimate on an axis. What goes far beyond the means, as
// it does with two seeds, ends at the frame.
func bound(p *figure.Point, e results.Estimate, a figure.Axis, u scale) {
	if low, high, ok := e.Interval(); ok {
		p.Low, p.High = max(low/u.of, a.Low), min(high/u.of, a.High)
	}
}

// widened is the axis with room for intervals: as far as they go, but at most by half of
// what the means take.
func widened(a figure.Axis, u scale, estimates []results.Estimate) figure.Axis {
	room := (a.High - a.Low) / 2
	least, most := a.Low-room, a.High+room
	if a.Log {
		least, most = a.Low/2, a.High*2
	} else if a.Low >= 0 {
		least = max(0, least)
	}
	for _, e := range estimates {
		if low, high, ok := e.Interval(); ok {
			a.Low, a.High = min(a.Low, max(low/u.of, least)), max(a.High, min(high/u.of, most))
		}
	}
	return a
}
