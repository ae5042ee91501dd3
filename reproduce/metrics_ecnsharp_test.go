package reproduce

import (
	"errors"
	"math"
	"testing"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// query is one of so many responses, which takes 40 ms.
func query(id int64, responses int, at time.Duration) []results.Flow {
	flows := make([]results.Flow, responses)
	for i := range flows {
		flows[i] = flow(1000, 40*time.Millisecond)
		flows[i].Query, flows[i].Sent = id, at
	}
	return flows
}

// lossy has queries of 1, 2, 4 and 3 responses, from 50 ms, 100 ms, 200 ms and
// 300 ms on. The port drops packets during all but that of 2, though once just
// before: of the last in the sample after its end.
func lossy() results.Point {
	var p results.Point
	p.Flows = query(4, 1, 50*time.Millisecond)
	for i, responses := range []int{2, 4, 3} {
		p.Flows = append(p.Flows, query(int64(i+1), responses, time.Duration(i+1)*100*time.Millisecond)...)
	}
	drops := map[time.Duration]int64{100: 5, 225: 1, 350: 1}
	for at := time.Duration(25); at <= 400; at += 25 {
		for queue := range int32(2) {
			s := results.QueueSample{At: at * time.Millisecond, Port: "h1", Queue: queue, Bytes: 20_000}
			if queue == 1 {
				s.Drops, s.Bytes = drops[at], 20_000+20_000*int64(at/25%2)+200_000*int64(at/400)
			}
			p.Queues = append(p.Queues, s)
		}
	}
	return p
}

func TestLossFanout(t *testing.T) {
	s := subject{Claim: papers.Claim{Port: "h1"}, point: lossy()}
	for i := range s.point.Queues {
		s.point.Queues[i].Drops = 0
	}
	if got, err := lossFanout(s); err != nil || !math.IsInf(got, 1) {
		t.Errorf("without drops: %v, %v, want no fan-out at all", got, err)
	}
	s.point.Queues[0].Drops = 1
	if got, err := lossFanout(s); err != nil || !math.IsInf(got, 1) {
		t.Errorf("with a drop before any query: %v, %v", got, err)
	}
	s.point.Flows = s.point.Flows[:1] // the query of one response
	s.point.Flows[0].Error = "lost"
	if _, err := lossFanout(s); !errors.Is(err, errNothing) {
		t.Errorf("of a query that did not complete: error %v, want %v", err, errNothing)
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
		tt.score.Columns = map[orchestrator.Runtime]Figure{orchestrator.Sim: tt.figure}
		if got := tt.score.text(orchestrator.Sim); got != tt.want {
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
		if j.study == p.studies[1] && j.scheme == "dctcp-red-avg" {
			return 2
		}
		return 1
	})
	if a, b := got["ecnsharp-fig3-c1"].Columns["sim"], got["ecnsharp-fig3-c2"].Columns["sim"]; a.Seeds == 0 || b.Seeds == 0 || a.Value != 0 || b.Value != 100 {
		t.Errorf("twofold %+v, fivefold %+v: want differences of 0 and 100 %%", a, b)
	}
}
