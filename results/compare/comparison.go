// Package compare compares schemes that replayed the same traces, flow by flow.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"aqmlab/results"
	"aqmlab/results/coexist"
)

// Metric is what a row compares.
type Metric string

// The metrics of a class of flows.
const (
	Mean Metric = "mean"
	P99  Metric = "p99"
)

// Verdict says what a row shows.
type Verdict string

// A verdict is better (the FCT is lower) or worse when the 95 % interval
// excludes zero and the class holds at least ten pairs of flows, else there
// is no difference to be seen. Intervals are not corrected for the number of
// rows: of twenty rows without any true difference, one is expected to show
// one.
const (
	Better       Verdict = "better"
	Worse        Verdict = "worse"
	NoDifference Verdict = "no difference"
)

// Row compares one scheme with the baseline at one load. The baseline has rows
// too, with its own values.
type Row struct {
	Scheme string        `json:"scheme"`
	Load   float64       `json:"load"`
	Class  results.Class `json:"class"`
	Metric Metric        `json:"metric"`
	// Value is the scheme's FCT in microseconds, over the flows that completed
	// under both the scheme and the baseline, of all seeds that both have. In the
	// class of queries it is the query completion time, over queries.
	Value float64 `json:"value"`
	// Normalized is Value over the baseline's on the same flows.
	Normalized float64 `json:"normalized"`
	// Difference is Normalized - 1 in percent: negative is faster.
	Difference float64    `json:"difference_percent"`
	CI95       [2]float64 `json:"ci95"` // of Difference, in percent
	Verdict    Verdict    `json:"verdict"`
}

// Total is what one scheme did at one load, over the seeds that it ran.
type Total struct {
	Scheme           string
	Load             float64
	Seeds            []uint64
	Flows, Completed int
	// Queries and QueriesCompleted count queries, of which a trace may have none.
	Queries, QueriesCompleted int
	Counts                    results.Counts
	TimedOut                  int                      // completed flows for which a retransmission timer expired; [Unknown] where that was not counted
	Services                  []results.ServiceGoodput // the mean of the seeds
	Probes                    []results.ProbeSummary   // over all seeds
	Fidelity                  results.Fidelity         // the worst of the seeds
}

// Comparison is the outcome of comparing schemes flow by flow. `compare --json`
// prints it without what only the table shows.
type Comparison struct {
	Baseline    string           `json:"baseline"`
	Schemes     []string         `json:"-"`                     // the baseline first
	Loads       []float64        `json:"-"`                     // ascending
	Rows        []Row            `json:"rows"`                  // by load, scheme, class, metric
	Programs    []ProgramRow     `json:"programs,omitempty"`    // by load, scheme, program, figure, statistic
	Coexistence []CoexistenceRow `json:"coexistence,omitempty"` // by load, scheme, measure, party or class
	Judged      []Judged         `json:"-"`                     // what these rest on, by load, scheme
	Totals      []Total          `json:"-"`                     // by load, scheme
	Runs        []string         `json:"-"`                     // names of the runs: that of scheme@1, of scheme@2, ...
	Differences []Difference     `json:"differences"`
	Warnings    []string         `json:"-"` // look at these before trusting the rest
}

// CoexistenceRow compares one measure of how parties share the network under a scheme
// with the baseline's, at one load. The baseline has rows too, with its own values.
type CoexistenceRow struct {
	Scheme  string  `json:"scheme"`
	Load    float64 `json:"load"`
	Measure string  `json:"measure"`      // see [coexist.Measures]
	Of      string  `json:"of,omitempty"` // a party, or a class of packets at the bottleneck; empty: the whole
	Unit    string  `json:"unit,omitempty"`
	Better  string  `json:"better,omitempty"` // lower or higher; empty: neither
	Count   int     `json:"n"`                // seeds: those that both have; 1 where they all measure the same
	// Value is the mean of the seeds, and CI95 its interval by Student's t; nil where one
	// seed cannot tell.
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95"`
	// Difference is the mean of what each seed has more than with the baseline.
	Difference     *float64    `json:"difference"`
	DifferenceCI95 *[2]float64 `json:"difference_ci95"`
	Verdict        Verdict     `json:"verdict,omitempty"` // empty where neither is better, or one seed cannot tell
}

// Judged is what the rows of a scheme at a load rest on.
type Judged struct {
	Scheme string
	Load   float64
	First  coexist.Judgement // of the first of its seeds
}

// Difference is something in which compared runs differ beside their schemes.
type Difference struct {
	Field  string     `json:"field"`
	Values []RunValue `json:"values"` // one a run
}

// RunValue is one run's part of a difference.
type RunValue struct {
	Run   string `json:"run"` // name of its folder
	Value string `json:"value"`
}

// String prints "kernel: 6.1.0 (run a), 6.8.0 (run b)".
func (d Difference) String() string {
	parts := make([]string, len(d.Values))
	for i, v := range d.Values {
		parts[i] = fmt.Sprintf("%s (%s)", v.Value, v.Run)
	}
	return d.Field + ": " + strings.Join(parts, ", ")
}

// Statistic is what is compared within a load.
type Statistic struct {
	Class  results.Class
	Metric Metric
}

// Statistics lists what is compared. The p99 of the larger classes is left
// out: too few flows lie beyond it.
func Statistics() []Statistic {
	return []Statistic{{results.All, Mean}, {results.All, P99}, {results.Small, Mean}, {results.Small, P99}, {results.Medium, Mean}, {results.Large, Mean}}
}

// QueryStatistics lists what is compared of queries within a load.
func QueryStatistics() []Statistic {
	return []Statistic{{results.Queries, Mean}, {results.Queries, P99}}
}

// Row finds a row.
func (c Comparison) Row(scheme string, load float64, class results.Class, m Metric) (Row, bool) {
	return find(c.Rows, func(r Row) bool {
		return r.Scheme == scheme && r.Load == load && r.Class == class && r.Metric == m
	})
}

// Total finds the totals of a scheme at a load.
func (c Comparison) Total(scheme string, load float64) (Total, bool) {
	return find(c.Totals, func(t Total) bool { return t.Scheme == scheme && t.Load == load })
}

// TotalsAt are those of all schemes at a load.
func (c Comparison) TotalsAt(load float64) []Total {
	var all []Total
	for _, s := range c.Schemes {
		if total, ok := c.Total(s, load); ok {
			all = append(all, total)
		}
	}
	return all
}

// ProbeNames lists the probes that any scheme has at a load.
func (c Comparison) ProbeNames(load float64) []string {
	var probes []results.ProbeSummary
	for _, t := range c.TotalsAt(load) {
		probes = append(probes, t.Probes...)
	}
	return results.Distinct(probes, func(p results.ProbeSummary) string { return p.Probe })
}

// Probe finds what a probe measured, over all seeds.
func (t Total) Probe(name string) (results.ProbeSummary, bool) {
	return find(t.Probes, func(p results.ProbeSummary) bool { return p.Probe == name })
}

// JudgedAt finds what the rows of a scheme at a load rest on.
func (c Comparison) JudgedAt(scheme string, load float64) (Judged, bool) {
	return find(c.Judged, func(j Judged) bool { return j.Scheme == scheme && j.Load == load })
}

// CoexistenceRow finds a row.
func (c Comparison) CoexistenceRow(scheme string, load float64, measure, of string) (CoexistenceRow, bool) {
	return find(c.Coexistence, func(r CoexistenceRow) bool {
		return r.Scheme == scheme && r.Load == load && r.Measure == measure && r.Of == of
	})
}

// find returns the first value that fits, if there is one.
func find[T any](all []T, fits func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(all, fits); i >= 0 {
		return all[i], true
	}
	return found, false
}
