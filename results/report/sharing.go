package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
	"aqmlab/results/store"
)

// drawSharing shows how parties share the network: the delay at the bottleneck against
// how much of its link is used, a dot a scheme, and the parties' shares over time.
func (s *section) drawSharing(c compare.Comparison, points []store.Point) error {
	var tradeoff []figure.Figure
	for _, d := range []struct{ measure, name string }{{coexist.DelayMean, "average"}, {coexist.DelayP99, "p99"}} {
		if f, ok := delayFigure(c, s.Load, d.measure, d.name); ok {
			tradeoff = append(tradeoff, f)
		}
	}
	if len(c.Judged) > 0 {
		if err := s.drawUsage(c, points); err != nil {
			return err
		}
	}
	s.add(group{Title: "Delay against utilisation of the bottleneck", Note: "Best is below on the right. Bars: 95 % intervals; none with one seed.", Figures: tradeoff})
	under, seed, err := underFirstSeed(c, points, store.Point.ReadServices)
	if err != nil || len(under) == 0 {
		return err
	}
	first := points[slices.IndexFunc(points, func(p store.Point) bool { return p.Scheme == c.Baseline })]
	p, err := first.ReadFlows()
	if err != nil {
		return err
	}
	parties := coexist.PartiesOf(s.manifest, p.Flows)
	s.add(group{
		Title: fmt.Sprintf("Share of goodput over time: seed %d", seed), Note: "Of the payload that reached hosts.",
		Figures: s.marks.shareFigures(c, parties, under, s.Load),
	})
	return nil
}

// drawUsage shows how much of its link the baseline's bottleneck used over time, under
// every scheme.
func (s *section) drawUsage(c compare.Comparison, points []store.Point) error {
	if _, ok := c.JudgedAt(c.Baseline, s.Load); !ok {
		return nil
	}
	under, seed, err := underFirstSeed(c, points, store.Point.ReadQueues)
	if err != nil {
		return err
	}
	var end time.Duration
	for _, samples := range under {
		end = max(end, results.LastSample(samples))
	}
	port, ok := coexist.Busiest(s.manifest, under[c.Baseline], 0, end)
	if !ok {
		return nil
	}
	x := timeUnit(0, results.Microseconds(end))
	f := figure.Figure{
		Name: stem("utilisation", loadName(s.Load)), Title: "all schemes", About: "Utilisation of the bottleneck's link over time under each scheme",
		X:     figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: results.Microseconds(end) / x.scale},
		Y:     figure.Axis{Title: "link used (%)", High: 100},
		Marks: s.marks.on(x),
	}
	for i, scheme := range c.Schemes {
		if course := coexist.Usage(s.manifest, under[scheme], port, end, rateBins); len(course) > 0 {
			f.Series = append(f.Series, figure.Series{
				Name: layout.Shorten(scheme, 24), Style: i, Marked: float64(i) / float64(len(c.Schemes)), Points: on(course, x, unit{"", 0.01}),
			})
		}
	}
	if len(f.Series) > 0 {
		s.add(group{Title: fmt.Sprintf("Utilisation over time: %v, seed %d", port, seed), Figures: []figure.Figure{f}})
	}
	return nil
}

// delayFigure has a dot for each scheme at its utilisation and its delay. ok is false
// where fewer than two have both.
func delayFigure(c compare.Comparison, load float64, measure, name string) (f figure.Figure, ok bool) {
	f = figure.Figure{
		Name: stem("delay", "utilisation", name, loadName(load)), Title: "waiting time, " + name,
		About: "Waiting time of packets at the bottleneck, " + name + ", against the utilisation of its link, with 95 % intervals",
		X:     figure.Axis{Title: "link used (%)", Low: math.Inf(1), High: math.Inf(-1)},
	}
	var rows [][2]compare.CoexistenceRow
	most := 0.0
	for _, scheme := range c.Schemes {
		used, known := c.CoexistenceRow(scheme, load, coexist.Utilisation, "")
		waited, too := c.CoexistenceRow(scheme, load, measure, "")
		if known && too {
			rows, most = append(rows, [2]compare.CoexistenceRow{used, waited}), max(most, waited.Value)
		}
	}
	u := timeUnit(0, most)
	f.Y = figure.Axis{Title: fmt.Sprintf("wait, %s (%s)", name, u.name), High: most / u.scale}
	for _, r := range rows {
		used, waited := r[0], r[1]
		p := figure.Point{X: 100 * used.Value, Y: waited.Value / u.scale}
		p.Note = fmt.Sprintf("%s: %s of the link used, waits %s", used.Scheme, measureText(used.Measure, used.Unit, used.Value), layout.Micros(waited.Value))
		if ci := waited.CI95; ci != nil {
			p.Low, p.High = max(ci[0], 0)/u.scale, ci[1]/u.scale
		}
		p.Left, p.Right = p.X, p.X
		if ci := used.CI95; ci != nil {
			p.Left, p.Right = 100*max(ci[0], 0), 100*min(ci[1], 1)
		}
		f.X.Low, f.X.High, f.Y.High = min(f.X.Low, p.Left), max(f.X.High, p.Right), max(f.Y.High, p.High)
		f.Series = append(f.Series, figure.Series{Name: layout.Shorten(used.Scheme, 24), Style: style(c, used.Scheme), Form: figure.Dots, Points: []figure.Point{p}})
	}
	if f.X.High-f.X.Low < 1 { // percent; so that dots at one place are not far apart
		f.X.Low, f.X.High = f.X.Low-0.5, f.X.High+0.5
	}
	return f, len(rows) > 1
}

// shareFigures draws one panel a scheme, with a line for each party: its share of what
// all got. There are none for one party alone.
func (m marks) shareFigures(c compare.Comparison, parties coexist.Parties, under map[string][]results.ServiceSample, load float64) []figure.Figure {
	if len(parties.Names) < 2 {
		return nil
	}
	var end time.Duration
	for _, samples := range under {
		for _, sample := range samples {
			end = max(end, sample.At)
		}
	}
	x := timeUnit(0, results.Microseconds(end))
	var figures []figure.Figure
	for _, scheme := range c.Schemes {
		lines := sharesOver(parties, under[scheme], end)
		if len(lines) == 0 {
			continue
		}
		f := figure.Figure{
			Name: stem("share", scheme, loadName(load)), Title: scheme, About: "Share of each party in the goodput of all over time under " + scheme,
			X:     figure.Axis{Title: fmt.Sprintf("time (%s)", x.name), High: results.Microseconds(end) / x.scale},
			Y:     figure.Axis{Title: "share of goodput", High: 1},
			Marks: m.on(x),
		}
		for i, line := range lines {
			if i < rateLines {
				f.Series = append(f.Series, figure.Series{
					Name: layout.Shorten(parties.Names[i], 24), Style: i, Marked: float64(i) / float64(len(lines)), Points: on(line, x, unit{"", 1}),
				})
			}
		}
		figures = append(figures, f)
	}
	return figures
}

// sharesOver are the parties' shares in bins over the time up to end. Bins in which
// nothing came are left out.
func sharesOver(parties coexist.Parties, samples []results.ServiceSample, end time.Duration) [][]results.XY {
	var all [rateBins]float64
	got := make([][rateBins]float64, len(parties.Names))
	for _, s := range samples {
		if i := parties.Sample(s); i >= 0 {
			bin := results.BinOf(s.At-s.Over, end, rateBins)
			got[i][bin] += float64(s.Bytes)
			all[bin] += float64(s.Bytes)
		}
	}
	lines := make([][]results.XY, len(got))
	for i := range got {
		for bin, total := range all {
			if total > 0 {
				lines[i] = append(lines[i], results.XY{X: results.Middle(bin, end, rateBins), Y: got[i][bin] / total})
			}
		}
	}
	if len(samples) == 0 {
		return nil
	}
	return lines
}
