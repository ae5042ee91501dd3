package reproduce

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
		m, _ := metric(tt.metric)
		got, err := m.of(subject{tt.claim, tt.point, &labs.Lab{}})
		if err != nil || math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s of %s flows: %v, %v, want %v", tt.metric, tt.claim.Class, got, err, tt.want)
		}
	}
}

// Timeouts that nobody counted are not none; a flow that was cut short may be left
// out.
func TestTimeoutsUnknown(t *testing.T) {
	s := subject{papers.Claim{Class: "small"}, timedOut(), &labs.Lab{}}
	s.point.Flows[3].Timeouts = results.Unknown
	if got, err := classTimedOut(s); err != nil || math.Abs(got-200.0/3) > 1e-9 {
		t.Errorf("without one that was cut short: %v, %v", got, err)
	}
	s.point.Flows[0].Timeouts = results.Unknown
	for name, of := range map[string]func(subject) (float64, error){"count": classTimeouts, "share": classTimedOut} {
		if _, err := of(s); !errors.Is(err, errNothing) || !strings.Contains(err.Error(), "nobody counted") {
			t.Errorf("%s of flows of which one was not counted: error %v", name, err)
		}
	}
	s.Class = "medium"
	if _, err := classTimeouts(s); !errors.Is(err, errNothing) || !strings.Contains(err.Error(), "class medium") {
		t.Errorf("without such flows: error %v", err)
	}
}

// A count is compared between schemes at any equal number of flows, and by itself
// at the published one alone; a share at any.
func TestTimeoutsAtFewerFlows(t *testing.T) {
	s := &study{lab: &labs.Lab{}, published: 50_000}
	s.lab.Workload.Flows = 10_000
	few, many := []results.Point{timedOut()}, []results.Point{timedOut()}
	many[0].Flows[0].Timeouts = 4
	m, _ := metric("class-timeouts")
	c := papers.Claim{Metric: m.name, Class: "small", Relation: papers.Lower, Baseline: "b"}
	if f, err := unpaired(pair{s, s, c, m}, spot{}, many, few); err != nil || f.Value != -50 {
		t.Errorf("4 timeouts against 8: %+v, %v", f, err)
	}
	c = papers.Claim{Metric: m.name, Class: "small", Relation: papers.AtLeast, To: ptr(1)}
	if _, err := absolute(s, c, spot{}, few); !errors.Is(err, errNothing) {
		t.Errorf("a count by itself: error %v", err)
	}
	c.Metric = "class-timed-out"
	if f, err := absolute(s, c, spot{}, few); err != nil || f.Value != 50 {
		t.Errorf("a share by itself: %+v, %v", f, err)
	}
}
