package results

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

//go:embed report.html.tmpl
var pageTemplate string

// page is what the report's template shows.
type page struct {
	Title       string
	Baseline    string
	Schemes     []legend
	Loads       []section
	Differences []Difference
	Warnings    []string
	Runs        []runFacts
}

// legend ties a scheme to its line style.
type legend struct {
	Name  string
	Style int
}

// section is all about one load.
type section struct {
	Load     float64
	Findings []Finding
	Columns  []string
	Rows     []tableRow
	Queries  bool // whether the traces have any
	Services []serviceRow
	Dots     []chart
	CDFs     []chart
	Probes   []probeTable
	Port     string // the bottleneck whose queue is shown
	Seed     uint64 // of the run whose queue is shown
	Queues   []chart
}

// tableRow is one scheme's line of the table.
type tableRow struct {
	Total
	Cells []tableCell
}

// tableCell is one normalised FCT, or the baseline's own.
type tableCell struct{ Text, Interval, Verdict string }

// runFacts is what made one run.
type runFacts struct {
	Name   string
	Facts  []fact
	Points []PointInfo
	Lab    string
}

type fact struct{ Name, Value string }

// Report writes one self-contained page about the comparison of the runs: no
// script, and nothing fetched. The baseline "" stands for the first run's.
func Report(w io.Writer, runs []*Run, baseline string) error {
	c, err := CompareRuns(runs, baseline)
	if err != nil {
		return err
	}
	return render(w, runs, c)
}

func writeReport(path string, runs []*Run, c Comparison) error {
	var b bytes.Buffer
	if err := render(&b, runs, c); err != nil {
		return err
	}
	return writeFile(path, b.Bytes())
}

func render(w io.Writer, runs []*Run, c Comparison) error {
	t, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("parsing the report's template: %w", err)
	}
	p, err := newPage(runs, c)
	if err != nil {
		return fmt.Errorf("preparing the report: %w", err)
	}
	if err := t.Execute(w, p); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func newPage(runs []*Run, c Comparison) (page, error) {
	p := page{Title: title(runs), Baseline: c.Baseline, Differences: c.Differences, Warnings: c.Warnings}
	for _, s := range c.Schemes {
		p.Schemes = append(p.Schemes, legend{s, style(c, s)})
	}
	points := contenders(runs)
	for _, load := range c.Loads {
		s := section{Load: load}
		s.tabulate(c)
		if err := s.draw(c, points); err != nil {
			return p, err
		}
		p.Loads = append(p.Loads, s)
	}
	for _, r := range runs {
		p.Runs = append(p.Runs, factsOf(r))
	}
	return p, nil
}

// title is the labs' names, each once.
func title(runs []*Run) string {
	var labs []string
	for _, r := range runs {
		if !slices.Contains(labs, r.Manifest.Lab) {
			labs = append(labs, r.Manifest.Lab)
		}
	}
	return strings.Join(labs, ", ")
}

// tabulate fills in the sentences and the table.
func (s *section) tabulate(c Comparison) {
	for _, f := range c.Findings() {
		if f.Load == s.Load {
			s.Findings = append(s.Findings, f)
		}
	}
	compared := s.statistics(c)
	for _, st := range compared {
		s.Columns = append(s.Columns, statisticName(st))
	}
	for _, scheme := range c.Schemes {
		total, ok := c.Total(scheme, s.Load)
		if !ok {
			continue
		}
		row := tableRow{Total: total}
		for _, st := range compared {
			row.Cells = append(row.Cells, cellOf(c, total, st))
		}
		s.Rows = append(s.Rows, row)
	}
	s.Services, s.Probes = serviceRows(s.Rows), probeTables(c, s.Load)
}

// statistics lists what is compared at the load, and notes whether that is
// queries, too.
func (s *section) statistics(c Comparison) []statistic {
	s.Queries = slices.ContainsFunc(c.Totals, func(t Total) bool { return t.Load == s.Load && t.Queries > 0 })
	if !s.Queries {
		return statistics()
	}
	return slices.Concat(statistics(), queryStatistics())
}

func cellOf(c Comparison, total Total, s statistic) tableCell {
	r, ok := c.Row(total.Scheme, total.Load, s.class, s.metric)
	switch {
	case !ok:
		return tableCell{Text: "-"}
	case r.Scheme == c.Baseline:
		return tableCell{Text: formatMicros(r.Value)}
	}
	return tableCell{
		Text:     formatRatio(r.Normalized) + " " + mark(r.Verdict),
		Interval: fmt.Sprintf("%.2f to %.2f", 1+r.CI95[0]/100, 1+r.CI95[1]/100),
		Verdict:  string(r.Verdict),
	}
}

// draw fills in the drawings.
func (s *section) draw(c Comparison, points []StoredPoint) error {
	for _, st := range s.statistics(c) {
		if ch, ok := dotChart(c, s.Load, st); ok && len(c.Schemes) > 1 {
			s.Dots = append(s.Dots, ch)
		}
	}
	points = slices.DeleteFunc(slices.Clone(points), func(p StoredPoint) bool { return p.Load != s.Load })
	if err := s.drawCDFs(c, points); err != nil {
		return err
	}
	return s.drawQueues(c, points)
}

// drawQueues shows the same port and seed under every scheme: the baseline's
// bottleneck, and its first seed.
func (s *section) drawQueues(c Comparison, points []StoredPoint) error {
	first := slices.IndexFunc(points, func(p StoredPoint) bool { return p.Scheme == c.Baseline })
	if first < 0 {
		return nil
	}
	samples, err := points[first].ReadQueues()
	if err != nil {
		return err
	}
	port, ok := bottleneck(samples)
	if !ok {
		return nil
	}
	s.Port, s.Seed = port.String(), points[first].Seed
	var series []occupancy
	for _, scheme := range c.Schemes {
		for _, p := range points {
			if p.Scheme != scheme || p.Seed != s.Seed {
				continue
			}
			samples, err := p.ReadQueues()
			if err != nil {
				return err
			}
			series = append(series, occupy(scheme, samples, port, lastSample(samples)))
		}
	}
	s.Queues = queueCharts(c, series)
	return nil
}

// clock prints a wall-clock time in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func factsOf(r *Run) runFacts {
	m := r.Manifest
	rtt := "not measured"
	if m.BaseRTT > 0 {
		rtt = formatMicros(micros(time.Duration(m.BaseRTT)))
	}
	by := m.RTTBy
	if missed := MissedRTTs(m.BaseRTTs); missed != "" {
		by += "; " + missed
	}
	return runFacts{
		Name: filepath.Base(r.Dir),
		Facts: []fact{
			{"state", strings.TrimSuffix(string(m.State)+": "+m.Reason, ": ")},
			{"lab", fmt.Sprintf("%s (%.12s)", m.Lab, m.LabHash)},
			{"start", clock(m.Start)},
			{"end", clock(m.End)},
			{"aqmlab", m.Version + ", revision " + m.GitRevision},
			{"runtime", fmt.Sprintf("%s, dilation %g", m.Runtime, m.Dilation)},
			{"transport", fmt.Sprintf("%s (%s)", m.Transport.Name, m.Transport.Provider)},
			{"base RTT", fmt.Sprintf("%s, made by %s", rtt, by)},
			{"kernel", m.Host.Kernel},
			{"CPU", fmt.Sprintf("%s, %d cores, %.1f GiB", m.Host.CPU, m.Host.Cores, float64(m.Host.Memory)/(1<<30))},
			{"Go", m.Host.GoVersion},
			{"seeds", list(m.Seeds)},
		},
		Points: m.Points,
		Lab:    string(r.LabYAML),
	}
}
