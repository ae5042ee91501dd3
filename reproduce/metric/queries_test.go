package metric

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// part is a flow of 100 kB of a query.
func part(query int64, start, fct time.Duration) results.Flow {
	return results.Flow{Query: query, Start: start, Sent: start, FCT: fct, Bytes: 100_000, Received: 100_000}
}

// incasts has two queries of two flows each, at 0 and at 100 ms. The first takes
// 4 ms and the second 16 ms, so their goodputs are 400 and 100 Mbps. The queue
// to h1 is sampled every ms: it is 30 KB long while the first query lasts, and 40
// KB for half of the second, the rest of which it is empty and has no sample.
func incasts() results.Point {
	ms := time.Millisecond
	p := results.Point{
		Flows: []results.Flow{part(1, 0, 2*ms), part(1, 0, 4*ms), part(2, 100*ms, 16*ms), part(2, 100*ms, 6*ms)},
		Counters: results.Counters{
			Ports: []results.PortCount{
				{Switch: "s1", Port: "h1", DropsFull: 3}, {Switch: "s1", Port: "h2", DropsScheme: 2},
				{Switch: "s2", Port: "h3", DropsFull: 4},
			},
			Ingress: []results.IngressCount{{Port: "h2", PeakPackets: 1 << 40}, {Port: "h1", PeakPackets: 50}},
		},
	}
	for i := range 12 {
		q := results.QueueSample{At: time.Duration(i+1) * ms, Switch: "s1", Port: "h1", Bytes: 30_000}
		if i >= 4 {
			q.At, q.Bytes = q.At+96*ms, 40_000
		}
		p.Queues = append(p.Queues, q, results.QueueSample{At: q.At, Switch: "s1", Port: "h1", Queue: 1, Bytes: 1 << 40})
	}
	return p
}

// metricCase is a metric of a claim, a point, and its figure there.
type metricCase struct {
	metric string
	claim  papers.Claim
	point  results.Point
	want   float64
}

// Each metric of the claims of ABQ on a point whose figure is known.
func TestMetricsOfQueries(t *testing.T) {
	for _, tt := range abqCases() {
		m, _ := Find(tt.metric)
		got, err := m.Compute(Subject{tt.claim, tt.point, &labs.Lab{}})
		if err != nil || math.Abs(got-tt.want) > 1e-9*tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.metric, got, err, tt.want)
		}
	}
}

func abqCases() []metricCase {
	second := []papers.Window{{From: 50 * time.Millisecond, To: time.Second}}
	h1 := papers.Claim{Port: "h1"}
	return []metricCase{
		{"query-fct-p1", papers.Claim{}, incasts(), (2000 + 6000) / 2},
		{"query-fct-p50", papers.Claim{}, incasts(), (2000 + 6000) / 2},
		{"query-fct-p99", papers.Claim{}, incasts(), (4000 + 16_000) / 2},
		{"query-fct-p99", papers.Claim{Windows: second}, incasts(), 16_000},
		{"query-fct-p50-growth", papers.Claim{}, incasts(), 3},
		{"query-goodput", papers.Claim{}, incasts(), (400 + 100) / 2},
		{"query-goodput", papers.Claim{Windows: second}, incasts(), 100},
		{"query-goodput-of-others", papers.Claim{Windows: second}, incasts(), 0.25},
		{"query-queue", h1, incasts(), (30 + 20) / 2},
		{"query-queue-with-held", h1, incasts(), (25_000 + 50*52) / 25_000.0},
		{"drops", papers.Claim{}, incasts(), 9},
		{"drops-of-worst-switch", papers.Claim{}, incasts(), 5},
		{"flow-goodput", papers.Claim{Class: "small"}, incasts(), (400 + 200 + 50 + 800.0/6) / 4},
		{"flow-goodput-largest", papers.Claim{Class: "small"}, incasts(), 400},
	}
}

// What would be a wrong figure is none.
func TestNoFigureOfQueries(t *testing.T) {
	lost := incasts()
	lost.Flows[3] = results.Flow{Query: 2, Bytes: 1, Error: "lost"}
	open := incasts()
	open.Ingress = nil
	everything := papers.Claim{Port: "h1", Windows: []papers.Window{{To: time.Second}}}
	for _, tt := range []struct {
		metric string
		claim  papers.Claim
		point  results.Point
		want   string
	}{
		{"query-goodput", papers.Claim{}, lost, "query 2 did not complete"},
		{"query-fct-p99", papers.Claim{Windows: []papers.Window{{From: time.Second, To: time.Minute}}}, incasts(), "no queries"},
		{"query-fct-p50-growth", papers.Claim{Windows: []papers.Window{{To: time.Millisecond}}}, incasts(), "fewer than two"},
		{"query-goodput-of-others", everything, incasts(), "no other queries"},
		{"query-queue", papers.Claim{Port: "h7"}, incasts(), "no samples of queue 0 to h7"},
		{"query-queue-with-held", everything, open, "h1 holds no ACKs"},
	} {
		m, _ := Find(tt.metric)
		_, err := m.Compute(Subject{tt.claim, tt.point, &labs.Lab{}})
		if !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.metric, err, tt.want)
		}
	}
}
