package results

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Metric is one figure that a measured point has.
type Metric struct {
	Name  string // such as small.p99
	Unit  string // of the figure: us, packets, events, bytes; empty for a share
	Doc   string
	Lower bool // lower values are better

	of func(*summed) (value float64, ok bool)
}

// summed is a point whose FCTs are sorted but once for all metrics.
type summed struct {
	Point
	fct map[Class]FCT // those asked for so far
}

// ErrNoMetric is wrapped by the error for a name that no metric has.
var ErrNoMetric = errors.New("unknown metric")

// Metrics is the table of all metrics, in the order in which they are shown: those
// of every class of flows, then those of the whole point.
func Metrics() []Metric {
	var all []Metric
	for _, c := range Classes() {
		all = append(all,
			Metric{string(c) + ".avg", "us", "mean FCT of " + c.flows(), true, timeOf(c, func(f FCT) float64 { return f.Mean })},
			Metric{string(c) + ".p50", "us", "median FCT of " + c.flows(), true, timeOf(c, func(f FCT) float64 { return f.P50 })},
			Metric{string(c) + ".p99", "us", "99th percentile of the FCT of " + c.flows(), true, timeOf(c, func(f FCT) float64 { return f.P99 })},
		)
	}
	return append(all,
		Metric{"marks", "packets", "packets that switches marked CE", true, countOf(func(c Counts) int64 { return c.Marks })},
		Metric{"drops", "packets", "packets that switches dropped, for want of room or by the scheme", true, countOf(func(c Counts) int64 { return c.Drops })},
		Metric{"timeouts", "events", "retransmission timeouts of all hosts", true, timeouts},
		Metric{"completed", "", "share of flows that completed, 0 to 1", false, completed},
		Metric{"queue.peak", "bytes", "longest that any queue of a switch was", true, peak},
	)
}

// flows says in words which flows the class has.
func (c Class) flows() string { return string(c) + " flows" }

// FindMetric is the metric of a name, of the table or of programs. The error for another
// name lists all names.
func FindMetric(name string, programs ...Metric) (Metric, error) {
	var names []string
	for _, m := range append(Metrics(), programs...) {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Metric{}, fmt.Errorf("%w %q: want one of %s", ErrNoMetric, name, strings.Join(names, ", "))
}

// Of is the figure of a point. ok is false where the point does not have it: no flow
// of the class completed, or nobody counted.
func (m Metric) Of(p Point) (value float64, ok bool) { return m.of(&summed{Point: p}) }

// summary sums up the FCTs of a class.
func (p *summed) summary(c Class) FCT {
	f, ok := p.fct[c]
	if !ok {
		f = Summarize(p.Flows, c)
		if p.fct != nil {
			p.fct[c] = f
		}
	}
	return f
}

// timeOf is a metric of the FCTs of a class.
func timeOf(c Class, pick func(FCT) float64) func(*summed) (float64, bool) {
	return func(p *summed) (float64, bool) {
		f := p.summary(c)
		return pick(f), f.Count > 0
	}
}

// countOf is a metric of what switches counted.
func countOf(pick func(Counts) int64) func(*summed) (float64, bool) {
	return func(p *summed) (float64, bool) { return float64(pick(CountsOf(p.Point))), len(p.Ports) > 0 }
}

func timeouts(p *summed) (float64, bool) {
	unknown := slices.ContainsFunc(p.Hosts, func(h HostCount) bool { return h.Timeouts == Unknown })
	return float64(CountsOf(p.Point).Timeouts), len(p.Hosts) > 0 && !unknown
}

func completed(p *summed) (float64, bool) {
	if len(p.Flows) == 0 {
		return 0, false
	}
	return float64(InfoOf(p.Point).Completed) / float64(len(p.Flows)), true
}

func peak(p *summed) (float64, bool) {
	var longest int64
	for _, q := range p.Ports {
		longest = max(longest, q.PeakBytes)
	}
	return float64(longest), len(p.Ports) > 0
}
