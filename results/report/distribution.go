package report

import (
	"slices"
	"strconv"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report/figure"
	"aqmlab/results/report/layout"
	"aqmlab/results/store"
)

// distribution gathers the times of one subject under every scheme.
type distribution struct {
	subject
	times func(results.Point) []float64 // in microseconds
	us    map[string][]float64          // by scheme
}

// completions are the distributions of flows, all first, and of queries.
func completions() []distribution {
	var out []distribution
	for _, c := range results.Classes() {
		out = append(out, distribution{subjectOf(c), func(p results.Point) []float64 { return results.FlowTimes(p.Flows, c) }, make(map[string][]float64)})
	}
	queries := func(p results.Point) []float64 { return results.CompletionTimes(results.QueriesOf(p.Flows)) }
	return append(out, distribution{subjectOf(results.Queries), queries, make(map[string][]float64)})
}

// answers is the distribution of a probe's round-trip times.
func answers(probe string) distribution {
	of := func(p results.Point) (us []float64) {
		for _, s := range p.Probes {
			if s.Probe == probe && !s.Lost {
				us = append(us, results.Microseconds(s.RTT))
			}
		}
		return us
	}
	return distribution{subject{"probe " + probe, "RTT", "answers", probe}, of, make(map[string][]float64)}
}

// gather reads the points into distributions, in ascending order.
func gather(all []distribution, points []store.Point) error {
	for _, stored := range points {
		p, err := stored.ReadFlows()
		if err != nil {
			return err
		}
		for _, d := range all {
			d.us[p.Scheme] = append(d.us[p.Scheme], d.times(p)...)
		}
	}
	for _, d := range all {
		for _, us := range d.us {
			slices.Sort(us)
		}
	}
	return nil
}

// same tells whether two distributions are of as many times, under every
// scheme.
func (d distribution) same(o distribution) bool {
	for scheme, us := range d.us {
		if len(us) != len(o.us[scheme]) {
			return false
		}
	}
	return true
}

// rows sums up a distribution, scheme by scheme.
func (d distribution) rows(c compare.Comparison) (rows [][]string) {
	for _, scheme := range c.Schemes {
		f := results.SummarizeTimes(d.us[scheme])
		if f.Count > 0 {
			rows = append(rows, []string{
				scheme, d.name, strconv.Itoa(f.Count),
				layout.Micros(f.Mean), layout.Micros(f.P50), layout.Micros(f.P95), layout.Micros(f.P99), layout.Micros(f.P999),
			})
		}
	}
	return rows
}

// drawTimes shows the times of flows, queries and probes.
func (s *section) drawTimes(c compare.Comparison, points []store.Point) error {
	all, probes := completions(), c.ProbeNames(s.Load)
	completed := len(all)
	for _, name := range probes {
		all = append(all, answers(name))
	}
	if err := gather(all, points); err != nil {
		return err
	}
	s.Times = layout.Table{Name: "times", Head: []string{"scheme", "of", "completed", "average", "p50", "p95", "p99", "p99.9"}}
	cdfs, probed := group{Title: "Distribution of completion times"}, s.Tables[len(s.Tables)-len(probes):]
	for i, d := range all {
		d.file = stem(d.file, loadName(s.Load))
		f, ok := cdfFigure(c, d.subject, d.us)
		switch {
		case ok && i >= completed:
			probed[i-completed].Figures = []figure.Figure{f}
		case ok && (i == 0 || !d.same(all[0])):
			cdfs.Figures = append(cdfs.Figures, f)
		}
		if i < completed {
			s.Times.Rows = append(s.Times.Rows, d.rows(c)...)
		}
	}
	s.add(cdfs)
	return nil
}
