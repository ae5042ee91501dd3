package reproduce

import (
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/reproduce/metric"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

// The intervals over seeds are those of Student's t.
func TestIntervalOfSeeds(t *testing.T) {
	one := Figure{}.over([]float64{3}, nil)
	if one.Value != 3 || one.HasCI || one.Seeds != 1 {
		t.Errorf("one seed: %+v", one)
	}
	two := Figure{}.over([]float64{2, 4}, nil)
	if two.Value != 3 || !two.HasCI || math.Abs(two.CI95[1]-(3+12.706)) > 1e-9 {
		t.Errorf("two seeds: %+v", two)
	}
	three := Figure{}.over([]float64{1, 2, 3}, nil)
	if want := 2 - 4.303/math.Sqrt(3); math.Abs(three.CI95[0]-want) > 1e-9 {
		t.Errorf("three seeds: %+v, want %v", three, want)
	}
	if metric.Difference(0, 0) != 0 || !math.IsInf(metric.Difference(0, 5), 1) || metric.Difference(200, 100) != -50 {
		t.Error("differences")
	}
}

// A count is compared with a published one at the published number of flows
// alone.
func TestCountsNeedTheirFlows(t *testing.T) {
	lab := &labs.Lab{Workload: labs.Workload{Flows: 100}}
	c := papers.Claim{Metric: "timeouts", Relation: papers.Equal, To: ptr(7)}
	points := []results.Point{{Counters: results.Counters{Hosts: []results.HostCount{{Timeouts: 7}}}}}
	if f, err := absolute(&study{lab: lab, published: 100}, c, spot{}, points); err != nil || f.Value != 7 {
		t.Errorf("at the published number: %+v, %v", f, err)
	}
	if _, err := absolute(&study{lab: lab, published: 50_000}, c, spot{}, points); !errors.Is(err, metric.ErrNothing) {
		t.Errorf("at fewer flows: error %v", err)
	}
	mine, base := &study{lab: lab}, &study{lab: &labs.Lab{Workload: labs.Workload{Flows: 90}}}
	m, _ := metric.Find("timeouts")
	if _, err := unpaired(pair{mine, base, c, m}, spot{}, points, points); !errors.Is(err, metric.ErrNothing) {
		t.Errorf("between unequal numbers: error %v", err)
	}
	f, err := unpaired(pair{mine, mine, c, m}, spot{}, points, []results.Point{{Counters: results.Counters{Hosts: []results.HostCount{{Timeouts: 14}}}}})
	if err != nil || f.Value != 100 || f.From != 7 || f.To != 14 {
		t.Errorf("twice as many: %+v, %v", f, err)
	}
}

// An explanation stands on the card of what was judged and is not reproduced.
func TestCardExplains(t *testing.T) {
	for verdict, want := range map[Verdict]int{NotReproduced: 1, DirectionOnly: 1, Reproduced: 0, NotRun: 0} {
		s := Score{Claim: papers.Claim{Relation: papers.Close, Explanation: "the sea was rough"}, Verdict: verdict}
		var text strings.Builder
		if err := Table(&text, []Score{s}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(text.String(), "the sea was rough"); got != want {
			t.Errorf("%s: %d explanations, want %d:\n%s", verdict, got, want, &text)
		}
	}
}

// A direction from a constant, without a number, is printed as a direction.
func TestDirectionWithoutNumber(t *testing.T) {
	c := papers.Claim{Relation: papers.Lower, From: ptr(1), Unit: "ratio"}
	if got := (Score{Claim: c}).publishedText(); got != "lower" {
		t.Errorf("published %q, want lower", got)
	}
	if p := (Score{Claim: c}).published(); !math.IsNaN(p) {
		t.Errorf("published %v, want none", p)
	}
}

// What is more than none has no interval.
func TestNoIntervalOfInfinity(t *testing.T) {
	if f := (Figure{}).over([]float64{math.Inf(1), 3}, nil); f.HasCI || !math.IsInf(f.Value, 1) {
		t.Errorf("%+v", f)
	}
}

// What never happened under one scheme is more than any number under another.
func TestMoreThanNone(t *testing.T) {
	never := Figure{}.over([]float64{math.Inf(1), 175}, nil)
	if never.HasCI || !math.IsInf(never.Value, 1) {
		t.Errorf("%+v: want no interval", never)
	}
	higher := Score{Claim: papers.Claim{Relation: papers.Higher, Baseline: "b"}}
	equal := Score{Claim: papers.Claim{Relation: papers.Equal, To: ptr(100), Unit: "responses"}}
	for _, tt := range []struct {
		score  Score
		figure Figure
		want   string
	}{
		{higher, Figure{Value: math.Inf(1), From: 100, To: math.Inf(1)}, "from 100 to never"},
		{higher, Figure{Value: math.Inf(1), From: 0, To: 83}, "from 0 to 83"},
		{equal, Figure{Value: math.Inf(1), To: math.Inf(1)}, "never"},
		{equal, Figure{Value: 125, To: 125}, "125 responses"},
	} {
		tt.score.Columns = map[orchestrator.Runtime]Figure{"sim": tt.figure}
		if got := tt.score.text("sim"); got != tt.want {
			t.Errorf("printed %q, want %q", got, tt.want)
		}
	}
}

// Each lab of an experiment has a study of its own, and the first is the
// experiment's.
func TestLabsOfOneExperiment(t *testing.T) {
	p := planned(t, Full, "ecnsharp-fig3")
	if len(p.studies) != 2 || p.study("ecnsharp-fig3").lab.Name != "ecnsharp-fig3" || p.studies[1].lab.Name != "ecnsharp-fig3-5x" {
		t.Fatalf("studies %+v", p.studies)
	}
	if got, alone := p.studies[1].String(), planned(t, Full, "ecnsharp-fig2").studies[0].String(); got != "ecnsharp-fig3 (ecnsharp/fig3-5x)" || alone != "ecnsharp-fig2" {
		t.Errorf("names %q and %q", got, alone)
	}
	// Completion times are twice as long under one scheme of one lab alone.
	got := scores(t, p, "sim", func(j job) float64 {
		if j.study == p.studies[1] && j.Scheme == "dctcp-red-avg" {
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
	s := &study{lab: &labs.Lab{}, published: 50_000}
	s.lab.Workload.Flows = 10_000
	few, many := []results.Point{timedOut(0, 1, 3, 0)}, []results.Point{timedOut(4, 1, 3, 0)}
	m, _ := metric.Find("class-timeouts")
	c := papers.Claim{Metric: m.Name, Class: "small", Relation: papers.Lower, Baseline: "b"}
	if f, err := unpaired(pair{s, s, c, m}, spot{}, many, few); err != nil || f.Value != -50 {
		t.Errorf("4 timeouts against 8: %+v, %v", f, err)
	}
	c = papers.Claim{Metric: m.Name, Class: "small", Relation: papers.AtLeast, To: ptr(1)}
	if _, err := absolute(s, c, spot{}, few); !errors.Is(err, metric.ErrNothing) {
		t.Errorf("a count by itself: error %v", err)
	}
	c.Metric = "class-timed-out"
	if f, err := absolute(s, c, spot{}, few); err != nil || f.Value != 50 {
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
