package metric

import (
	"errors"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/reproduce/papers"
	"aqmlab/results"
)

// twoTransports has two flows of the hosts' own transport at 3 and 5 MB/s, one of another
// at 2 MB/s, and one that nobody knows the time of.
func twoTransports() results.Point {
	var p results.Point
	for i, rate := range []int64{3_000_000, 5_000_000, 2_000_000, 9_000_000} {
		f := flow(10*rate, 10*time.Second)
		f.Received, f.Transport = f.Bytes, int32(i/2)
		p.Flows = append(p.Flows, f)
	}
	p.Flows[3].FCT = 0
	p.Classes = []results.ClassCount{
		{Port: "h1", Queue: 0, DSCP: 1, Sent: 10, Waited: 30 * time.Microsecond, DropsFull: 1},
		{Port: "h1", Queue: 1, DSCP: 1, Sent: 5, Waited: 30 * time.Microsecond, DropsScheme: 2},
		{Port: "h1", Queue: 0, DSCP: 0, Sent: 7, Waited: time.Second},
		{Port: "h2", Queue: 0, DSCP: 1, Sent: 7, Waited: time.Second, DropsFull: 50},
	}
	return p
}

func partyCases() []metricCase {
	claim := papers.Claim{Port: "h1", DSCP: 1}
	return []metricCase{
		{"goodput-ratio", claim, twoTransports(), 2},
		{"class-wait", claim, twoTransports(), 4},
		{"class-drops", claim, twoTransports(), 3},
	}
}

func TestParties(t *testing.T) {
	for _, tt := range partyCases() {
		m, err := Find(tt.metric)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := m.Compute(Subject{tt.claim, tt.point, &labs.Lab{}}); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v, want %v", tt.metric, got, err, tt.want)
		}
		if got, err := m.Compute(Subject{tt.claim, results.Point{}, &labs.Lab{}}); !errors.Is(err, ErrNothing) {
			t.Errorf("%s of an empty point: %v, %v", tt.metric, got, err)
		}
	}
}
