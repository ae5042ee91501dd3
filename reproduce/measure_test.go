package reproduce

import (
	"errors"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// Seeds whose flows started and went alike are one run.
func TestDifferentRuns(t *testing.T) {
	of := func(seed uint64, start, fct time.Duration) results.Point {
		return results.Point{Coord: results.Coord{Seed: seed}, Flows: []results.Flow{{Start: start, FCT: fct}}}
	}
	for _, tt := range []struct {
		name   string
		points []results.Point
		want   int
	}{
		{"one seed", []results.Point{of(1, 5, 9)}, 1},
		{"the same traffic", []results.Point{of(1, 5, 9), of(2, 5, 9), of(3, 5, 9)}, 1},
		{"other starts", []results.Point{of(1, 5, 9), of(2, 6, 9)}, 2},
		{"other times, but for one", []results.Point{of(1, 5, 9), of(2, 5, 8), of(3, 5, 9)}, 2},
	} {
		if got := differentRuns(tt.points); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	lab := &experiment{lab: &labs.Lab{Workload: labs.Workload{Flows: 1}}, published: 1}
	c := papers.Claim{Metric: "timeouts", Relation: papers.Equal, To: ptr(7)}
	points := []results.Point{of(1, 5, 9), of(2, 6, 9)}
	alone, err := absolute(side{lab, c, points})
	if err != nil || alone.Runs != 2 {
		t.Errorf("a figure by itself: %+v, %v", alone, err)
	}
	compared, err := unpaired(side{lab, c, points}, side{lab, c, points})
	if err != nil || compared.Runs != 2 {
		t.Errorf("a comparison: %+v, %v", compared, err)
	}
}

// A count is compared with a published one at the published number of flows
// alone.
func TestCountsNeedTheirFlows(t *testing.T) {
	lab := &labs.Lab{Workload: labs.Workload{Flows: 100}}
	c := papers.Claim{Metric: "timeouts", Relation: papers.Equal, To: ptr(7)}
	points := []results.Point{{Counters: results.Counters{Hosts: []results.HostCount{{Timeouts: 7}}}}}
	if f, err := absolute(side{&experiment{lab: lab, published: 100}, c, points}); err != nil || f.Value != 7 {
		t.Errorf("at the published number: %+v, %v", f, err)
	}
	if _, err := absolute(side{&experiment{lab: lab, published: 50_000}, c, points}); !errors.Is(err, metric.ErrNothing) {
		t.Errorf("at fewer flows: error %v", err)
	}
	mine, base := &experiment{lab: lab}, &experiment{lab: &labs.Lab{Workload: labs.Workload{Flows: 90}}}
	if _, err := unpaired(side{mine, c, points}, side{base, c, points}); !errors.Is(err, metric.ErrNothing) {
		t.Errorf("between unequal numbers: error %v", err)
	}
	f, err := unpaired(side{mine, c, []results.Point{{Counters: results.Counters{Hosts: []results.HostCount{{Timeouts: 14}}}}}}, side{mine, c, points})
	if err != nil || f.Value != 100 || f.From != 7 || f.To != 14 {
		t.Errorf("twice as many: %+v, %v", f, err)
	}
}

// Each lab of an experiment has a place of its own, and the first is the
// experiment's.
func TestLabsOfOneExperiment(t *testing.T) {
	p := planned(t, Full, "ecnsharp-fig3")
	if len(p.experiments) != 2 || p.experiment("ecnsharp-fig3").lab.Name != "ecnsharp-fig3" || p.experiments[1].lab.Name != "ecnsharp-fig3-5x" {
		t.Fatalf("experiments %+v", p.experiments)
	}
	if got, alone := p.experiments[1].String(), planned(t, Full, "ecnsharp-fig2").experiments[0].String(); got != "ecnsharp-fig3 (ecnsharp/fig3-5x)" || alone != "ecnsharp-fig2" {
		t.Errorf("names %q and %q", got, alone)
	}
	// Completion times are twice as long under one scheme of one lab alone.
	got := scores(t, p, "sim", func(j point) float64 {
		if j.experiment == p.experiments[1] && j.Scheme == "dctcp-red-avg" {
			return 2
		}
		return 1
	})
	if a, b := got["ecnsharp-fig3-c1"].Columns["sim"], got["ecnsharp-fig3-c2"].Columns["sim"]; a.Seeds == 0 || b.Seeds == 0 || a.Value != 0 || b.Value != 100 {
		t.Errorf("twofold %+v, fivefold %+v: want differences of 0 and 100 %%", a, b)
	}
}

// A count is compared between schemes at any equal number of flows, and by itself
// at the published one alone; a share at any.
func TestTimeoutsAtFewerFlows(t *testing.T) {
	s := &experiment{lab: &labs.Lab{}, published: 50_000}
	s.lab.Workload.Flows = 10_000
	few, many := []results.Point{timedOut(0, 1, 3, 0)}, []results.Point{timedOut(4, 1, 3, 0)}
	c := papers.Claim{Metric: "class-timeouts", Class: "small", Relation: papers.Lower, Baseline: "b"}
	if f, err := unpaired(side{s, c, few}, side{s, c, many}); err != nil || f.Value != -50 {
		t.Errorf("4 timeouts against 8: %+v, %v", f, err)
	}
	c = papers.Claim{Metric: "class-timeouts", Class: "small", Relation: papers.AtLeast, To: ptr(1)}
	if _, err := absolute(side{s, c, few}); !errors.Is(err, metric.ErrNothing) {
		t.Errorf("a count by itself: error %v", err)
	}
	c.Metric = "class-timed-out"
	if f, err := absolute(side{s, c, few}); err != nil || f.Value != 50 {
		t.Errorf("a share by itself: %+v, %v", f, err)
	}
}

// oneSecond is the window of the tests.
func oneSecond() []papers.Window { return []papers.Window{{From: 0, To: time.Second}} }

// sending is samples of the queues to h1, every 100 ms: what left in each.
func sending(sent ...[]int64) (samples []results.QueueSample) {
	for queue, series := range sent {
		for i, bytes := range series {
			samples = append(samples, results.QueueSample{At: time.Duration(i+1) * 100 * time.Millisecond, Port: "h1", Queue: int32(queue), Sent: bytes})
		}
	}
	return samples
}

// timedOut has small flows with so many timeouts.
func timedOut(timeouts ...int64) (p results.Point) {
	for _, n := range timeouts {
		p.Flows = append(p.Flows, results.Flow{Bytes: 10_000, Received: 10_000, FCT: time.Millisecond, Timeouts: n})
	}
	return p
}

func ptr(v float64) *float64 { return &v }
