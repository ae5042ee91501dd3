package metric

import (
	"errors"
	"math"
	"testing"
	"time"

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
	s := Subject{Claim: papers.Claim{Port: "h1"}, Point: lossy()}
	for i := range s.Point.Queues {
		s.Point.Queues[i].Drops = 0
	}
	if got, err := lossFanout(s); err != nil || !math.IsInf(got, 1) {
		t.Errorf("without drops: %v, %v, want no fan-out at all", got, err)
	}
	s.Point.Queues[0].Drops = 1
	if got, err := lossFanout(s); err != nil || !math.IsInf(got, 1) {
		t.Errorf("with a drop before any query: %v, %v", got, err)
	}
	s.Point.Flows = s.Point.Flows[:1] // the query of one response
	s.Point.Flows[0].Error = "lost"
	if _, err := lossFanout(s); !errors.Is(err, ErrNothing) {
		t.Errorf("of a query that did not complete: error %v, want %v", err, ErrNothing)
	}
}
