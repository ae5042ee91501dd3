package report

import (
	"fmt"
	"slices"
	"time"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
	"aqmlab/results/store"
)

// section is all about one load.
type section struct {
	Load     float64
	Findings []compare.Finding
	Columns  []string
	Rows     []tableRow
	Queries  bool // whether the traces have any
	Times    layout.Table
	Tables   []layout.Table // those beside
	Ratios   []group        // relative to the baseline: what a reader looks for first
	Groups   []group

	marks    marks            // of figures over time
	manifest results.Manifest // of the first run
}

// group is some figures under one heading.
type group struct {
	Title, Note string
	Figures     []figure.Figure
}

// tableRow is one scheme's line of the table.
type tableRow struct {
	compare.Total
	Cells []tableCell
}

// tableCell is one normalised FCT, or the baseline's own.
type tableCell struct{ Text, Interval, Verdict string }

// add takes a group unless it is empty.
func (s *section) add(g group) { s.Groups = appendGroup(s.Groups, g) }

func appendGroup(groups []group, g group) []group {
	if len(g.Figures) == 0 {
		return groups
	}
	return append(groups, g)
}

// tabulate fills in the sentences and the table.
func (s *section) tabulate(c compare.Comparison) {
	for _, f := range c.Findings() {
		if f.Load == s.Load {
			s.Findings = append(s.Findings, f)
		}
	}
	s.Queries = slices.ContainsFunc(c.Totals, func(t compare.Total) bool { return t.Load == s.Load && t.Queries > 0 })
	compared := comparedOf(s.Queries)
	for _, st := range compared {
		s.Columns = append(s.Columns, statisticName(st))
	}
	for _, total := range c.TotalsAt(s.Load) {
		row := tableRow{Total: total}
		for _, st := range compared {
			row.Cells = append(row.Cells, cellOf(c, total, st))
		}
		s.Rows = append(s.Rows, row)
	}
	s.Tables = sideTables(c, s.Load)
}

// comparedOf lists what is compared, of queries, too, if there are any.
func comparedOf(queries bool) []compare.Statistic {
	if !queries {
		return compare.Statistics()
	}
	return slices.Concat(compare.Statistics(), compare.QueryStatistics())
}

func cellOf(c compare.Comparison, total compare.Total, s compare.Statistic) tableCell {
	r, ok := c.Row(total.Scheme, total.Load, s.Class, s.Metric)
	switch {
	case !ok:
		return tableCell{Text: "-"}
	case r.Scheme == c.Baseline:
		return tableCell{Text: layout.Micros(r.Value)}
	}
	return tableCell{
		Text:     layout.Ratio(r.Normalized) + " " + formatVerdict(r.Verdict),
		Interval: fmt.Sprintf("%.2f to %.2f", 1+r.CI95[0]/100, 1+r.CI95[1]/100),
		Verdict:  string(r.Verdict),
	}
}

// draw fills in the figures. What is drawn against the load is not drawn again.
func (s *section) draw(c compare.Comparison, points []store.Point) error {
	dots := group{Title: "FCT relative to the baseline", Note: "Bars: 95 % intervals."}
	for _, st := range comparedOf(s.Queries) {
		if f, ok := dotFigure(c, s.Load, st); ok && len(c.Schemes) > 1 && len(c.Loads) == 1 {
			dots.Figures = append(dots.Figures, f)
		}
	}
	s.Ratios = appendGroup(s.Ratios, dots)
	s.Ratios = appendGroup(s.Ratios, group{Title: "Programs relative to the baseline", Note: "Bars: 95 % intervals; none with one seed.", Figures: programDots(c, s.Load)})
	points = slices.DeleteFunc(slices.Clone(points), func(p store.Point) bool { return p.Load != s.Load })
	if err := s.drawTimes(c, points); err != nil {
		return err
	}
	if err := s.drawQueues(c, points); err != nil {
		return err
	}
	if err := s.drawServices(c, points); err != nil {
		return err
	}
	return s.drawSharing(c, points)
}

// underFirstSeed reads samples under every scheme, all of the first seed of the
// baseline.
func underFirstSeed[S any](c compare.Comparison, points []store.Point, read func(store.Point) ([]S, error)) (under map[string][]S, seed uint64, err error) {
	first := slices.IndexFunc(points, func(p store.Point) bool { return p.Scheme == c.Baseline })
	if first < 0 {
		return nil, 0, nil
	}
	seed, under = points[first].Seed, make(map[string][]S)
	for _, p := range points {
		if p.Seed == seed {
			if under[p.Scheme], err = read(p); err != nil {
				return nil, 0, err
			}
		}
	}
	return under, seed, nil
}

// drawServices shows what the services delivered under every scheme, where there are
// several.
func (s *section) drawServices(c compare.Comparison, points []store.Point) error {
	under, seed, err := underFirstSeed(c, points, store.Point.ReadServices)
	if err != nil {
		return err
	}
	services := make(map[int32]bool)
	var end time.Duration
	for _, samples := range under {
		for _, sample := range samples {
			end, services[sample.Service] = max(end, sample.At), true
		}
	}
	if len(services) < 2 {
		return nil
	}
	var delivered []rates
	for _, scheme := range c.Schemes {
		delivered = append(delivered, ratesOf(scheme, deliveredBy(under[scheme]), end))
	}
	s.add(group{
		Title: fmt.Sprintf("Goodput per service over time: all hosts, seed %d", seed), Note: "Payload that reached the hosts that asked for it.",
		Figures: s.marks.rateFigures("service", delivered, end, s.Load),
	})
	return nil
}

// drawQueues shows the same port under every scheme: the baseline's bottleneck.
func (s *section) drawQueues(c compare.Comparison, points []store.Point) error {
	under, seed, err := underFirstSeed(c, points, store.Point.ReadQueues)
	port, ok := results.Bottleneck(under[c.Baseline])
	if err != nil || !ok {
		return err
	}
	var end time.Duration
	for _, samples := range under {
		end = max(end, results.LastSample(samples))
	}
	var lengths []results.Occupancy
	var sent []rates
	for _, scheme := range c.Schemes {
		if samples := under[scheme]; len(samples) > 0 {
			lengths = append(lengths, results.Occupy(scheme, samples, port, end))
			sent = append(sent, ratesOf(scheme, sentBy(port, samples), end))
		}
	}
	where := fmt.Sprintf("%v, seed %d", port, seed)
	s.add(group{
		Title: "Queue length over time: " + where, Note: "The port's queues together.",
		Figures: s.marks.queueFigures(c, lengths, loadName(s.Load)),
	})
	s.add(group{
		Title: "Goodput per queue over time: " + where, Note: "IP packets that left each queue, their headers included.",
		Figures: s.marks.rateFigures("queue", sent, end, s.Load),
	})
	return nil
}
