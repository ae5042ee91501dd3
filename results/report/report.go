// Package report shows runs and comparisons: as text, HTML, JSON, CSV and plots.
package report

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
	"aqmlab/results/store"
)

//go:embed report.html.tmpl
var pageTemplate string

// Page is a report about the comparison of runs: tables, figures, and what made
// the runs.
type Page struct{ content }

// content is what the report's template shows.
type content struct {
	Title       string
	Baseline    string
	Curves      group // against the load
	Loads       []section
	Differences []compare.Difference
	Warnings    []string
	Runs        []runFacts
}

// NewPage compares the runs. The baseline "" stands for the first run's.
func NewPage(runs []*store.Run, baseline string) (*Page, error) {
	runs = compare.Usable(runs, store.Point.Check)
	c, err := compare.Runs(runs, baseline)
	if err != nil {
		return nil, err
	}
	return newPage(runs, c)
}

// Report writes one self-contained page about the comparison of the runs,
// which fetches nothing. The baseline "" stands for the first run's.
func Write(w io.Writer, runs []*store.Run, baseline string) error {
	p, err := NewPage(runs, baseline)
	if err != nil {
		return err
	}
	return p.WriteHTML(w)
}

// WriteHTML writes the page as one HTML file with everything in it.
func (p *Page) WriteHTML(w io.Writer) error {
	return layout.Write(w, pageTemplate, p.content)
}

// Figures are all figures of the page, in its order.
func (p *Page) Figures() []figure.Figure {
	all := slices.Clone(p.Curves.Figures)
	for _, s := range p.Loads {
		for _, g := range s.Ratios {
			all = append(all, g.Figures...)
		}
		for _, t := range s.Tables {
			all = append(all, t.Figures...)
		}
		for _, g := range s.Groups {
			all = append(all, g.Figures...)
		}
	}
	return all
}

// WritePlots writes every figure as an SVG and a PDF file into a folder, which it
// makes if need be, and returns how many figures these are.
func (p *Page) WritePlots(dir string) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, fmt.Errorf("writing plots: %w", err)
	}
	figures := p.Figures()
	for _, f := range figures {
		pdf, err := f.PDF()
		if err != nil {
			return 0, fmt.Errorf("writing plots: %w", err)
		}
		for suffix, b := range map[string][]byte{".svg": f.SVG(), ".pdf": pdf} {
			if err := os.WriteFile(filepath.Join(dir, f.Name+suffix), b, 0o644); err != nil {
				return 0, fmt.Errorf("writing plots: %w", err)
			}
		}
	}
	return len(figures), nil
}

func newPage(runs []*store.Run, c compare.Comparison) (*Page, error) {
	p := &Page{content{Title: title(runs), Baseline: c.Baseline, Differences: c.Differences, Warnings: c.Warnings}}
	p.Curves = group{Title: "FCT against load, relative to " + c.Baseline, Note: "Bars: 95 % intervals. Schemes stand side by side at each load."}
	points := compare.Contenders(runs)
	queries := false
	for _, load := range c.Loads {
		s := section{Load: load, marks: marksOf(runs), manifest: runs[0].Manifest}
		s.tabulate(c)
		if err := s.draw(c, points); err != nil {
			return nil, fmt.Errorf("preparing the report: %w", err)
		}
		p.Loads = append(p.Loads, s)
		queries = queries || s.Queries
	}
	for _, st := range comparedOf(queries) {
		if len(c.Loads) < 2 || len(c.Schemes) < 2 {
			break
		}
		if f, ok := loadFigure(c, st); ok {
			p.Curves.Figures = append(p.Curves.Figures, f)
		}
	}
	for _, r := range runs {
		p.Runs = append(p.Runs, factsOf(r))
	}
	return p, nil
}

// title is the labs' names, each once.
func title(runs []*store.Run) string {
	return strings.Join(results.Distinct(runs, func(r *store.Run) string { return r.Manifest.Lab }), ", ")
}

// runFacts is what made one run.
type runFacts struct {
	Name   string
	Facts  layout.Table
	Points []results.PointInfo
	Lab    string
}

// clock prints a wall-clock time in UTC.
func clock(t time.Time) string {
	if t.IsZero() {
		return "not yet"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func factsOf(r *store.Run) runFacts {
	m := r.Manifest
	rtt := "not measured"
	if m.BaseRTT > 0 {
		rtt = layout.Micros(results.Microseconds(time.Duration(m.BaseRTT)))
	}
	by := m.RTTBy
	if missed := results.MissedRTTs(m.BaseRTTs); missed != "" {
		by += "; " + missed
	}
	facts := runFacts{
		Name: filepath.Base(r.Dir),
		Facts: layout.Table{Name: "facts", Rows: [][]string{
			{"state", strings.TrimSuffix(string(m.State)+": "+m.Reason, ": ")},
			{"lab", fmt.Sprintf("%s (%.12s)", m.Lab, m.LabHash)},
			{"start", clock(m.Start)},
			{"end", clock(m.End)},
			{"aqmlab", m.Version + ", revision " + m.GitRevision},
			{"runtime", fmt.Sprintf("%s, dilation %g%s", m.Runtime, m.Dilation, withoutRoot(m))},
			{"transport", m.Speaks()},
			{"base RTT", fmt.Sprintf("%s, made by %s", rtt, by)},
			{"kernel", m.Host.Kernel},
			{"CPU", fmt.Sprintf("%s, %d cores, %.1f GiB", m.Host.CPU, m.Host.Cores, float64(m.Host.Memory)/(1<<30))},
			{"Go", m.Host.GoVersion},
			{"seeds", results.Join(m.Seeds)},
		}},
		Points: m.Points,
		Lab:    string(r.LabYAML),
	}
	for _, e := range m.Events {
		facts.Facts.Rows = append(facts.Facts.Rows, []string{"event", e.String()})
	}
	for _, line := range results.DerivedLines(m.Derived) {
		facts.Facts.Rows = append(facts.Facts.Rows, []string{"derived", line})
	}
	return facts
}

func withoutRoot(m results.Manifest) string {
	if m.Rootless {
		return ", without root"
	}
	return ""
}
