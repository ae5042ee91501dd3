package results

import (
	"fmt"
	"slices"
	"strings"
)

// chart is a drawing in the terms of its template: everything is in pixels,
// and colours are the numbers of style classes.
type chart struct {
	Title          string
	Label          string // what the drawing shows, for those who do not see it
	XLabel, YLabel string
	W, H           int
	Left, Right    float64 // the plotting area
	Top, Bottom    float64
	XTicks, YTicks []tick
	Rule           string // x of a vertical line to compare with, or empty
	Lines          []line
	Dots           []dot
}

// line is one curve, or an area under one.
type line struct {
	Path  string
	Style int
	Class string // "line", with dashes; "line solid"; or "area"
}

// dot is a value with its interval, in a row of its own.
type dot struct {
	X, Y, Low, High string
	Name, Text      string
	Style           int
}

// xy is one place on a curve, in values.
type xy struct{ x, y float64 }

// path joins points by straight lines.
func path(points []xy, x, y axis) string {
	var b strings.Builder
	for i, p := range points {
		verb := 'L'
		if i == 0 {
			verb = 'M'
		}
		fmt.Fprintf(&b, "%c%.1f %.1f", verb, x.at(p.x), y.at(p.y))
	}
	return b.String()
}

// area is the path down to the bottom of the plot and back.
func area(points []xy, x, y axis) string {
	if len(points) == 0 {
		return ""
	}
	closed := append(slices.Clone(points), xy{points[len(points)-1].x, y.low}, xy{points[0].x, y.low})
	return path(closed, x, y) + "Z"
}

// dotChart shows the normalised value of one statistic for every scheme, with
// its 95 % interval. ok is false when no scheme has it.
func dotChart(c Comparison, load float64, s statistic) (ch chart, ok bool) {
	const row = 22
	var rows []Row
	low, high := 1.0, 1.0
	for _, scheme := range c.Schemes {
		if r, ok := c.Row(scheme, load, s.class, s.metric); ok {
			rows = append(rows, r)
			low, high = min(low, 1+r.CI95[0]/100, r.Normalized), max(high, 1+r.CI95[1]/100, r.Normalized)
		}
	}
	if len(rows) == 0 {
		return chart{}, false
	}
	what := subjectOf(s.class)
	ch = chart{
		Title: statisticName(s), XLabel: what.measure + " relative to " + c.Baseline + " (ratio)",
		Label: "Normalised " + what.measure + " with 95 % intervals, " + statisticName(s),
		W:     460, H: row*len(rows) + 52, Left: 150, Right: 446, Top: 6, Bottom: float64(row*len(rows) + 10),
	}
	x := linear(low, high, ch.Left, ch.Right)
	ch.XTicks, ch.Rule = x.ticks(), pixels(x.at(1))
	for i, r := range rows {
		ch.Dots = append(ch.Dots, dot{
			X: pixels(x.at(r.Normalized)), Y: pixels(float64(row*i) + 20),
			Low: pixels(x.at(1 + r.CI95[0]/100)), High: pixels(x.at(1 + r.CI95[1]/100)),
			Name: shorten(r.Scheme, 20), Style: style(c, r.Scheme),
			Text: fmt.Sprintf("%s: %s, %s (%.3f to %.3f), %s", r.Scheme, formatMicros(r.Value), formatRatio(r.Normalized), 1+r.CI95[0]/100, 1+r.CI95[1]/100, r.Verdict),
		})
	}
	return ch, true
}

func statisticName(s statistic) string {
	if s.metric == P99 {
		return subjectOf(s.class).name + ", p99"
	}
	return subjectOf(s.class).name + ", average"
}

// styles is how many line styles the page has.
const styles = 8

// style is the number of a scheme's line style: 0 for the baseline.
func style(c Comparison, scheme string) int { return max(0, slices.Index(c.Schemes, scheme)) % styles }

// cdfChart shows which share of what was measured took at most a time. times are
// ascending, in microseconds, by scheme.
func cdfChart(c Comparison, what subject, times map[string][]float64) (ch chart, ok bool) {
	low, high := 0.0, 0.0
	for _, us := range times {
		if len(us) > 0 {
			low, high = minAbove(low, us[0]), max(high, us[len(us)-1])
		}
	}
	if low <= 0 {
		return chart{}, false
	}
	ch = chart{
		Title: what.measure + " of " + what.name, Label: "Cumulative distribution of " + what.measure + ", " + what.name,
		XLabel: what.measure + " (us, log scale)", YLabel: "share of " + what.share,
		W: 460, H: 280, Left: 56, Right: 446, Top: 10, Bottom: 236,
	}
	x, y := logarithmic(low, high, ch.Left, ch.Right), linear(0, 1, ch.Bottom, ch.Top)
	ch.XTicks, ch.YTicks = x.ticks(), y.ticks()
	for _, s := range c.Schemes {
		if us := times[s]; len(us) > 0 {
			ch.Lines = append(ch.Lines, line{Path: path(cdf(us), x, y), Style: style(c, s), Class: "line"})
		}
	}
	return ch, true
}

// minAbove is the smaller of two, where zero stands for none yet.
func minAbove(a, b float64) float64 {
	if a == 0 {
		return b
	}
	return min(a, b)
}

// cdf thins ascending values to a few hundred places on their distribution.
func cdf(us []float64) []xy {
	every := max(1, len(us)/400)
	points := []xy{{us[0], 0}}
	for i := 0; i < len(us); i += every {
		points = append(points, xy{us[i], float64(i+1) / float64(len(us))})
	}
	return append(points, xy{us[len(us)-1], 1})
}
