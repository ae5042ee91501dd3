package metric

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"aqmlab/units"
)

// oneSecond is the window of the tests.
func oneSecond() []papers.Window { return []papers.Window{{From: 0, To: time.Second}} }

// flow is one that completed.
func flow(bytes int64, fct time.Duration) results.Flow {
	return results.Flow{Bytes: bytes, Received: bytes, FCT: fct}
}

// samples are those of the queues to h1, every 100 ms: what left in each.
func samples(sent ...[]int64) []results.QueueSample {
	var out []results.QueueSample
	for queue, series := range sent {
		for i, bytes := range series {
			out = append(out, results.QueueSample{
				At: time.Duration(i+1) * 100 * time.Millisecond, Switch: "s1", Port: "h1", Queue: int32(queue), Sent: bytes, PeakBytes: bytes / 1000,
			})
		}
	}
	return append(out, results.QueueSample{At: time.Millisecond, Port: "h2", Sent: 1 << 40, PeakBytes: 1 << 40})
}

// steady is ten samples of the same.
func steady(bytes int64) []int64 {
	s := make([]int64, 10)
	for i := range s {
		s[i] = bytes
	}
	return s
}

// Each kind of metric on a point whose figure is known.
func TestMetrics(t *testing.T) {
	lab := &labs.Lab{Host: labs.Host{MTU: 1500}, Topology: labs.Topology{Rate: units.Gbps}, RTT: labs.RTT{Min: 250 * time.Microsecond}}
	ms := time.Millisecond
	fcts := results.Point{Flows: []results.Flow{flow(1000, 2*ms), flow(2000, 4*ms), flow(20_000_000, 90*ms), {Bytes: 1, Error: "lost"}}}
	pings := results.Point{Probes: []results.ProbeSample{{Probe: "a", RTT: 300 * time.Microsecond}, {Probe: "a", At: ms, RTT: 500 * time.Microsecond}, {Probe: "a", At: 2 * ms, Lost: true}}}
	early, late := papers.Window{To: ms}, papers.Window{From: ms, To: 3 * ms}
	// 1.25 MB in 100 ms are 100 Mbps of network-layer bytes.
	queues := results.Point{Queues: samples(steady(1_250_000), steady(2_500_000))}
	covered := map[string]bool{}
	for _, tt := range []struct {
		metric string
		claim  papers.Claim
		point  results.Point
		want   float64
	}{
		{"fct-mean", papers.Claim{Class: "small"}, fcts, 3000},
		{"fct-mean", papers.Claim{Class: "large"}, fcts, 90_000},
		{"fct-p99", papers.Claim{Class: "small"}, fcts, 4000},
		{"fct-mean-above-100kb", papers.Claim{}, results.Point{Flows: []results.Flow{flow(1000, ms), flow(200_000, 10*ms), flow(20_000_000, 90*ms)}}, 50_000},
		{"small-below-24kb", papers.Claim{}, results.Point{Flows: []results.Flow{flow(23_999, ms), flow(24_000, ms), flow(100_000, ms), flow(1, ms), flow(100_001, ms)}}, 50},
		{"timeouts", papers.Claim{}, results.Point{Counters: results.Counters{Hosts: []results.HostCount{{Timeouts: 3}, {Timeouts: 4}}}}, 7},
		{"bytes-below-10mb", papers.Claim{}, results.Point{Flows: []results.Flow{flow(6_000_000, ms), flow(14_000_000, ms)}}, 30},
		{"queue-peak", papers.Claim{Port: "h1"}, results.Point{Counters: results.Counters{Ports: []results.PortCount{{Port: "h1", PeakBytes: 375_000}, {Port: "h1", Queue: 1, PeakBytes: 9e9}}}}, 375},
		{"queue-window-peak", papers.Claim{Port: "h1", Queue: 1, Windows: oneSecond()}, queues, 2.5},
		{"queue-median", papers.Claim{Port: "h1", Queue: 1, Windows: oneSecond()}, lossy(), 40},
		{"queue-drops", papers.Claim{Port: "h1", Queue: 1, Windows: oneSecond()}, lossy(), 7},
		{"loss-fanout", papers.Claim{Port: "h1"}, lossy(), 3},
		{"queue-goodput", papers.Claim{Port: "h1", Windows: oneSecond()}, queues, 100 * 1448.0 / 1500},
		{"port-goodput", papers.Claim{Port: "h1", Windows: oneSecond()}, queues, 300 * 1448.0 / 1500},
		{"queue-goodput-growth", papers.Claim{Port: "h1", Windows: []papers.Window{{To: 100 * ms}, {From: 100 * ms, To: 200 * ms}, {From: 200 * ms, To: 300 * ms}}},
			results.Point{Queues: samples([]int64{100, 150, 180})}, 1.2},
		{"queue-share-of-next", papers.Claim{Port: "h1", Windows: oneSecond()}, queues, 0.5},
		{"queue-rate", papers.Claim{Port: "h1", Queue: 1, Windows: oneSecond()}, queues, 200 * 1538.0 / 1500},
		{"utilisation", papers.Claim{Port: "h1", Windows: oneSecond()}, queues, 30 * 1538.0 / 1500},
		{"rtt-mean", papers.Claim{Probe: "a"}, pings, 400},
		{"rtt-mean", papers.Claim{Probe: "a", Windows: []papers.Window{late}}, pings, 500},
		{"rtt-p99", papers.Claim{Probe: "a"}, pings, 500},
		{"rtt-p99", papers.Claim{Probe: "a", Windows: []papers.Window{early}}, pings, 300},
		{"rtt-mean-growth", papers.Claim{Probe: "a", Windows: []papers.Window{early, late}}, pings, 5.0 / 3},
		{"rtt-above-base", papers.Claim{Probe: "a"}, pings, 150},
		{"share-convergence", papers.Claim{Port: "h1", Windows: oneSecond()}, settling(), 200},
	} {
		m, err := Find(tt.metric)
		if err != nil {
			t.Fatal(err)
		}
		covered[tt.metric] = true
		got, err := m.Compute(Subject{tt.claim, tt.point, lab})
		if err != nil || math.Abs(got-tt.want) > 1e-9*math.Abs(tt.want) {
			t.Errorf("%s: %v, %v, want %v", tt.metric, got, err, tt.want)
		}
	}
	for _, tt := range slices.Concat(abqCases(), timeoutCases(), estimateCases(), partyCases()) {
		covered[tt.metric] = true // by a test of its own
	}
	for _, m := range Kinds() {
		if m.Arithmetic != nil {
			continue
		}
		if !covered[m.Name] || m.Doc == "" {
			t.Errorf("metric %s has no test, or no doc", m.Name)
		}
		if m.Total {
			continue // none are a figure, too
		}
		if _, err := m.Compute(Subject{papers.Claim{Class: "small", Port: "h9", Probe: "b", Windows: oneSecond()}, results.Point{}, lab}); !errors.Is(err, ErrNothing) {
			t.Errorf("%s of an empty Point: error %v, want %v", m.Name, err, ErrNothing)
		}
	}
}

// settling is a queue that takes the whole link for 200 ms, and then half.
func settling() results.Point {
	var p results.Point
	for at := 20 * time.Millisecond; at <= time.Second; at += 20 * time.Millisecond {
		sent := int64(1000)
		if at <= 200*time.Millisecond {
			sent = 2000
		}
		p.Queues = append(p.Queues, results.QueueSample{At: at, Port: "h1", Sent: sent})
	}
	return p
}

// The manual has a row for every kind, and for no other.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("../../docs/reproduction.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(manual), "\n| metric | |\n")
	var got []string
	for row := range strings.Lines(table) {
		if cells := strings.Split(row, " | "); len(cells) > 1 {
			for name := range strings.SplitSeq(strings.Trim(cells[0], "| "), ", ") {
				got = append(got, strings.Trim(name, "`"))
			}
		}
	}
	var want []string
	for _, k := range Kinds() {
		want = append(want, k.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the manual has %v\nwant %v", got, want)
	}
}
