package sweep

import (
	"errors"
	"testing"
	"time"
)

// TestMeter: what is left is the estimate at first, and then what the work so far took.
func TestMeter(t *testing.T) {
	now := time.Unix(0, 0)
	var last Progress
	calls := 0
	a, b, c := Unit{Key: "a", Cost: 1}, Unit{Key: "b", Cost: 1}, Unit{Key: "c", Cost: 2}
	m := &Meter{
		Takes: 100 * time.Second, Now: func() time.Time { return now }, Label: func(u Unit) string { return "point " + u.Key },
		Watch: func(p Progress) { last, calls = p, calls+1 },
	}
	m.Begin([]Unit{a, b, c})
	m.Take(Event{Unit: a, Note: "one"})
	m.Take(Event{Unit: b, Note: "one"})
	if calls != 1 || last.Just != "one" || last.Left != 100*time.Second || last.Of != 3 {
		t.Errorf("%d calls, %+v", calls, last)
	}
	now = now.Add(20 * time.Second)
	m.Take(Event{Unit: a, Share: 0.5})
	if last.Left != 140*time.Second { // an eighth of the work took 20 s
		t.Errorf("after half a point %+v", last)
	}
	now = now.Add(20 * time.Second)
	m.Take(Event{Unit: a, Done: true, Took: 40 * time.Second, Low: []string{"late"}})
	if last.Points != 1 || last.Left != 120*time.Second || last.Just != "point a: done in 40s; low fidelity: late" {
		t.Errorf("after a point %+v", last)
	}
	m.Take(Event{Unit: b, Err: errors.New("no room")})
	if last.Points != 1 || last.Failed != 1 || last.Left != 40*time.Second || last.Just != "point b: failed: no room" {
		t.Errorf("after one that failed %+v", last)
	}
	m.Take(Event{Unit: c, Done: true})
	if last.Points != 2 || last.Left != 0 || last.Just != "point c: stored by another process" {
		t.Errorf("after one that another process measured %+v", last)
	}
	m.Quiet = true
	before := calls
	m.Take(Event{Unit: c, Note: "two"})
	if calls != before {
		t.Errorf("a quiet meter said %+v", last)
	}
}

// TestMeterKnowsNothing: nobody knows how long the first point takes, and that it takes
// no time at all would be wrong.
func TestMeterKnowsNothing(t *testing.T) {
	var last Progress
	m := &Meter{Label: func(u Unit) string { return u.Key }, Watch: func(p Progress) { last = p }}
	m.Begin([]Unit{{Key: "a", Cost: 1}})
	m.Take(Event{Unit: Unit{Key: "a"}, Note: "calibrated"})
	if last.Left >= 0 {
		t.Errorf("%+v", last)
	}
}
