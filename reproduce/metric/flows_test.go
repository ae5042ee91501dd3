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

// timedOut has four small flows with 0, 1, 3 and 0 timeouts, of which the last did
// not complete, and a large one with 7.
func timedOut() results.Point {
	var p results.Point
	for _, n := range []int64{0, 1, 3, 0} {
		f := flow(10_000, time.Millisecond)
		f.Timeouts = n
		p.Flows = append(p.Flows, f)
	}
	p.Flows[3].Error = "lost"
	large := flow(20_000_000, time.Second)
	large.Timeouts = 7
	p.Flows = append(p.Flows, large)
	return p
}

func timeoutCases() []metricCase {
	small := papers.Claim{Class: "small"}
	return []metricCase{
		{"class-timeouts", small, timedOut(), 4},
		{"class-timeouts", papers.Claim{Class: "all"}, timedOut(), 11},
		{"class-timed-out", small, timedOut(), 50},
		{"class-timed-out", papers.Claim{Class: "large"}, timedOut(), 100},
	}
}

func TestTimeoutsOfAClass(t *testing.T) {
	for _, tt := range timeoutCases() {
		m, _ := Find(tt.metric)
		got, err := m.Compute(Subject{tt.claim, tt.point, &labs.Lab{}})
		if err != nil || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s of %s flows: %v, %v, want %v", tt.metric, tt.claim.Class, got, err, tt.want)
		}
	}
}

// Timeouts that nobody counted are not none; a flow that was cut short may be left
// out.
func TestTimeoutsUnknown(t *testing.T) {
	s := Subject{papers.Claim{Class: "small"}, timedOut(), &labs.Lab{}}
	s.Point.Flows[3].Timeouts = results.Unknown
	if got, err := classTimedOut(s); err != nil || math.Abs(got-200.0/3) > 1e-9 {
		t.Errorf("without one that was cut short: %v, %v", got, err)
	}
	s.Point.Flows[0].Timeouts = results.Unknown
	for name, of := range map[string]func(Subject) (float64, error){"count": classTimeouts, "share": classTimedOut} {
		if _, err := of(s); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "nobody counted") {
			t.Errorf("%s of flows of which one was not counted: error %v", name, err)
		}
	}
	s.Class = "medium"
	if _, err := classTimeouts(s); !errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), "class medium") {
		t.Errorf("without such flows: error %v", err)
	}
}
