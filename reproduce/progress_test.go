package reproduce

import (
	"testing"
	"time"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/results"
)

// What is left is the estimate at first, and then what the work so far took.
func TestMeter(t *testing.T) {
	now := time.Unix(0, 0)
	var last Progress
	calls := 0
	s := &experiment{}
	s.ID = "x-1"
	todo := Todo{Points: 3, Takes: 100 * time.Second, jobs: []job{
		{points: []point{{experiment: s}}, cost: 1}, {points: []point{{experiment: s}, {experiment: s}}, cost: 3},
	}}
	m := newMeter(todo, func(p Progress) { last, calls = p, calls+1 })
	m.now = func() time.Time { return now }
	m.begun, m.last = now, now
	first, second := m.watcher(0), m.watcher(1)

	first.Note("one")
	first.Note("one")
	if calls != 1 || last.Just != "x-1: one" || last.Left != 100*time.Second || last.Of != 3 {
		t.Errorf("%d calls, %+v", calls, last)
	}
	first.Begin(orchestrator.Point{})
	now = now.Add(20 * time.Second)
	first.Progress(orchestrator.Point{Flows: 10, Of: 1}, backend.Progress{Completed: 5})
	if last.Left != 140*time.Second { // an eighth of the work took 20 s
		t.Errorf("after half a point %+v", last)
	}
	now = now.Add(20 * time.Second)
	first.End(orchestrator.Point{Of: 1, Coord: results.Coord{Scheme: "a", Load: 0.9, Seed: 1}}, results.Point{Fidelity: results.Fidelity{Reasons: []string{"late"}}})
	if last.Points != 1 || last.Left != 120*time.Second || last.Just != "x-1 a at load 0.9, seed 1: done in 40s; low fidelity: late" {
		t.Errorf("after a point %+v", last)
	}
	second.Begin(orchestrator.Point{})
	second.End(orchestrator.Point{Of: 2}, results.Point{})
	if last.Points != 2 || last.Left != 24*time.Second {
		t.Errorf("after half a cell %+v", last)
	}
	m.quiet = true
	before := calls
	second.Note("two")
	if calls != before {
		t.Errorf("a quiet meter said %+v", last)
	}
}
