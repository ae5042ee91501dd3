package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
)

// subject is what times are measured of.
type subject struct {
	name    string // such as "small flows"
	measure string // such as "FCT"
	share   string // what a share is one of
	file    string // in the names of files
}

func subjectOf(c results.Class) subject {
	if c == results.Queries {
		return subject{"queries", "QCT", "queries", "queries"}
	}
	return subject{string(c) + " flows", "FCT", "flows", string(c)}
}

// stem joins words to the name of a figure's files.
func stem(words ...string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r <= ' ' {
			return '-'
		}
		return r
	}, strings.Join(words, "-"))
}

func loadName(load float64) string { return "load" + strconv.FormatFloat(load, 'f', -1, 64) }

func statisticName(s compare.Statistic) string {
	if s.Metric == compare.P99 {
		return subjectOf(s.Class).name + ", p99"
	}
	return subjectOf(s.Class).name + ", average"
}

// style is the number of a scheme's line style: 0 for the baseline.
func style(c compare.Comparison, scheme string) int { return max(0, slices.Index(c.Schemes, scheme)) }

// pointOf is a row's normalised value with its interval, at a place of the other
// axis.
func pointOf(r compare.Row) (value float64, p figure.Point) {
	p.Low, p.High = 1+r.CI95[0]/100, 1+r.CI95[1]/100
	p.Note = fmt.Sprintf("%s: %s, %s (%.3f to %.3f), %s", r.Scheme, layout.Micros(r.Value), layout.Ratio(r.Normalized), p.Low, p.High, r.Verdict)
	return r.Normalized, p
}

// widen extends an axis to a point.
func widen(a *figure.Axis, value float64, p figure.Point) {
	a.Low, a.High = min(a.Low, value, p.Low), max(a.High, value, p.High)
}

// dotFigure shows the normalised value of one statistic for every scheme, with
// its 95 % interval. ok is false when no scheme has it.
func dotFigure(c compare.Comparison, load float64, s compare.Statistic) (f figure.Figure, ok bool) {
	what := subjectOf(s.Class)
	f = figure.Figure{
		Name: stem(strings.ToLower(what.measure), string(s.Class), string(s.Metric), loadName(load)), Title: statisticName(s),
		About: "Normalised " + what.measure + " with 95 % intervals, " + statisticName(s),
		X:     figure.Axis{Title: what.measure + " / " + what.measure + " of " + c.Baseline, Low: 1, High: 1},
		Rule:  1,
	}
	for _, scheme := range c.Schemes {
		if r, ok := c.Row(scheme, load, s.Class, s.Metric); ok {
			value, p := pointOf(r)
			addDot(&f, c, scheme, value, p)
		}
	}
	return f, len(f.Series) > 0
}

// addDot gives a scheme a row of its own.
func addDot(f *figure.Figure, c compare.Comparison, scheme string, value float64, p figure.Point) {
	widen(&f.X, value, p)
	p.X, p.Y = value, float64(len(f.Y.Rows))
	f.Y.Rows = append(f.Y.Rows, layout.Shorten(scheme, 24))
	f.Series = append(f.Series, figure.Series{Name: scheme, Style: style(c, scheme), Form: figure.Joined, Points: []figure.Point{p}})
}

// loadFigure shows the normalised value of one statistic against the load, for
// every scheme. ok is false when no scheme has it at two loads.
func loadFigure(c compare.Comparison, s compare.Statistic) (f figure.Figure, ok bool) {
	what := subjectOf(s.Class)
	f = figure.Figure{
		Name: stem(strings.ToLower(what.measure), string(s.Class), string(s.Metric), "load"), Title: statisticName(s),
		About: "Normalised " + what.measure + " with 95 % intervals against the load, " + statisticName(s),
		X:     figure.Axis{Title: "offered load", Low: c.Loads[0], High: c.Loads[len(c.Loads)-1]},
		Y:     figure.Axis{Title: "normalised " + what.measure, Low: 1, High: 1},
		Rule:  1,
	}
	// Side by side, so that no interval hides another.
	apart := (f.X.High - f.X.Low) / 100
	for i, scheme := range c.Schemes {
		series := figure.Series{Name: scheme, Style: i, Form: figure.Joined}
		for _, load := range c.Loads {
			if r, ok := c.Row(scheme, load, s.Class, s.Metric); ok {
				value, p := pointOf(r)
				widen(&f.Y, value, p)
				p.X, p.Y = load+apart*(float64(i)-float64(len(c.Schemes)-1)/2), value
				series.Points = append(series.Points, p)
			}
		}
		ok = ok || len(series.Points) > 1
		if len(series.Points) > 0 {
			f.Series = append(f.Series, series)
		}
	}
	beyond := apart * float64(len(c.Schemes)) / 2
	f.X.Low, f.X.High = f.X.Low-beyond, f.X.High+beyond
	return f, ok
}

// unit is a unit of an axis, and how many of the smaller one it is.
type unit struct {
	name  string
	scale float64
}

// timeUnit is the unit for times from a shortest to a longest, in microseconds.
func timeUnit(low, high float64) unit {
	switch {
	case low >= 1e6 || low == 0 && high >= 1e7:
		return unit{"s", 1e6}
	case high >= 1e4:
		return unit{"ms", 1e3}
	}
	return unit{"µs", 1}
}

// cdfFigure shows which share of what was measured took at most a time. times
// are ascending, in microseconds, by scheme.
func cdfFigure(c compare.Comparison, what subject, times map[string][]float64) (f figure.Figure, ok bool) {
	low, high := 0.0, 0.0
	for _, us := range times {
		if len(us) > 0 {
			low, high = minAbove(low, us[0]), max(high, us[len(us)-1])
		}
	}
	if low <= 0 {
		return figure.Figure{}, false
	}
	u := timeUnit(low, high)
	f = figure.Figure{
		Name: stem(strings.ToLower(what.measure), "cdf", what.file), Title: what.measure + " of " + what.name,
		About: "Cumulative distribution of " + what.measure + ", " + what.name,
		X:     figure.Axis{Title: fmt.Sprintf("%s (%s)", what.measure, u.name), Low: low / u.scale, High: high / u.scale, Log: true},
		Y:     figure.Axis{Title: "share of " + what.share, High: 1},
	}
	for i, s := range c.Schemes {
		if us := times[s]; len(us) > 0 {
			f.Series = append(f.Series, figure.Series{Name: s, Style: i, Marked: float64(i) / float64(len(c.Schemes)), Points: cdf(us, u.scale)})
		}
	}
	return f, true
}

// minAbove is the smaller of two, where zero stands for none yet.
func minAbove(a, b float64) float64 { return min(cmp.Or(a, b), b) }

// cdf thins ascending values to a few hundred places on their distribution.
func cdf(us []float64, scale float64) []figure.Point {
	every := max(1, len(us)/400)
	places := []figure.Point{{X: us[0] / scale}}
	for i := 0; i < len(us); i += every {
		places = append(places, figure.Point{X: us[i] / scale, Y: float64(i+1) / float64(len(us))})
	}
	return append(places, figure.Point{X: us[len(us)-1] / scale, Y: 1})
}

// formatVerdict prints a verdict in one character.
func formatVerdict(v compare.Verdict) string {
	return map[compare.Verdict]string{compare.Better: "+", compare.Worse: "-", compare.NoDifference: "~"}[v]
}
