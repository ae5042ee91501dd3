// Package compare compares schemes that replayed the same traces, flow by flow.
package compare

import (
	"aqmlab/results"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	Baseline    string       `json:"baseline"`
	Schemes     []string     `json:"-"`    // the baseline first
	Loads       []float64    `json:"-"`    // ascending
	Rows        []Row        `json:"rows"` // by load, scheme, class, metric
	Totals      []Total      `json:"-"`    // by load, scheme
	Runs        []string     `json:"-"`    // names of the runs: that of scheme@1, of scheme@2, ...
	Differences []Difference `json:"differences"`
	Warnings    []string     `json:"-"` // look at these before trusting the rest
}

// Compare compares schemes that replayed the same traces, flow by flow, with
// the baseline; "" stands for the first scheme. One scheme alone is not an
// error: the comparison then holds its values.
//
// It refuses, saying why, when a point is there twice, when schemes did not
// replay the same flows, and when no scheme has a load and seed in common with
// the baseline.
func Points(points []results.Point, baseline string) (Comparison, error) {
	set, err := newPointSet(points, baseline)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{Baseline: set.schemes[0], Schemes: set.schemes, Loads: set.loads, Rows: []Row{}, Differences: []Difference{}}
	compared := 0
	for _, load := range set.loads {
		for _, s := range set.schemes {
			mine := set.at(s, load)
			if len(mine) == 0 {
				continue
			}
			c.Totals = append(c.Totals, totalOf(mine))
			common := commonSeeds(set.at(c.Baseline, load), mine)
			if len(common) == 0 {
				continue
			}
			if s != c.Baseline {
				compared++
			}
			c.Rows = append(append(c.Rows, rowsOf(common)...), queryRows(common)...)
		}
	}
	if compared == 0 && len(set.schemes) > 1 {
		return Comparison{}, fmt.Errorf("nothing to compare: no scheme has a load and seed in common with the baseline %s", c.Baseline)
	}
	c.Warnings = set.warnings(c)
	return c, nil
}

// Row finds a row.
func (c Comparison) Row(scheme string, load float64, class results.Class, m Metric) (Row, bool) {
	i := slices.IndexFunc(c.Rows, func(r Row) bool {
		return r.Scheme == scheme && r.Load == load && r.Class == class && r.Metric == m
	})
	if i < 0 {
		return Row{}, false
	}
	return c.Rows[i], true
}

// Total finds the totals of a scheme at a load.
func (c Comparison) Total(scheme string, load float64) (Total, bool) {
	i := slices.IndexFunc(c.Totals, func(t Total) bool { return t.Scheme == scheme && t.Load == load })
	if i < 0 {
		return Total{}, false
	}
	return c.Totals[i], true
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

func totalOf(points []results.Point) Total {
	t := Total{Scheme: points[0].Scheme, Load: points[0].Load, Fidelity: points[0].Fidelity}
	var probes []results.ProbeSample
	for _, p := range points {
		info := results.InfoOf(p)
		queries := results.QueriesOf(p.Flows)
		t.Queries += len(queries)
		t.QueriesCompleted += results.CompletedQueries(queries)
		probes = append(probes, p.Probes...)
		t.Seeds = append(t.Seeds, p.Seed)
		t.Flows += info.Flows
		t.Completed += info.Completed
		t.Counts = t.Counts.Plus(results.CountsOf(p))
		t.Fidelity = results.WorstOf(t.Fidelity, p.Fidelity)
	}
	t.TimedOut = timedOut(points)
	t.Services, t.Probes = results.MeanGoodput(points), results.SummarizeProbes(probes)
	return t
}

// timedOut adds up what [TimedOut] says of points.
func timedOut(points []results.Point) int {
	all := 0
	for _, p := range points {
		n, ok := results.TimedOut(p.Flows)[results.All]
		if !ok {
			return results.Unknown
		}
		all += n
	}
	return all
}

// pointSet holds points by scheme and load, checked to replay the same traces.
// Flows are in the order of their starts.
type pointSet struct {
	schemes []string // the baseline first, then as they came
	loads   []float64
	points  map[cell][]results.Point // by seed
}

type cell struct {
	scheme string
	load   float64
}

func newPointSet(points []results.Point, baseline string) (*pointSet, error) {
	if len(points) == 0 {
		return nil, errors.New("nothing to compare: there are no points")
	}
	s := &pointSet{points: make(map[cell][]results.Point)}
	for _, p := range points {
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	slices.Sort(s.loads)
	if err := s.lead(cmp.Or(baseline, s.schemes[0])); err != nil {
		return nil, err
	}
	return s, s.checkTraces()
}

func (s *pointSet) add(p results.Point) error {
	if !slices.Contains(s.schemes, p.Scheme) {
		s.schemes = append(s.schemes, p.Scheme)
	}
	if !slices.Contains(s.loads, p.Load) {
		s.loads = append(s.loads, p.Load)
	}
	byStart := func(a, b results.Flow) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID)) }
	if !slices.IsSortedFunc(p.Flows, byStart) {
		p.Flows = slices.Clone(p.Flows) // they are the caller's
		slices.SortFunc(p.Flows, byStart)
	}
	k := cell{p.Scheme, p.Load}
	i, found := slices.BinarySearchFunc(s.points[k], p.Seed, func(q results.Point, seed uint64) int { return cmp.Compare(q.Seed, seed) })
	if found {
		return fmt.Errorf("%v is there twice", p.Coord)
	}
	s.points[k] = slices.Insert(s.points[k], i, p)
	return nil
}

// lead puts the baseline first.
func (s *pointSet) lead(baseline string) error {
	i := slices.Index(s.schemes, baseline)
	if i < 0 {
		return fmt.Errorf("no points of the baseline %q: want one of %s", baseline, strings.Join(s.schemes, ", "))
	}
	s.schemes = slices.Insert(slices.Delete(s.schemes, i, i+1), 0, baseline)
	return nil
}

// at returns the points of a scheme at a load, by seed.
func (s *pointSet) at(scheme string, load float64) []results.Point {
	return s.points[cell{scheme, load}]
}
