package cluster

import (
	"strings"
	"testing"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
)

// TestOtherMachine: a machine on which a point would be another does not measure it.
func TestOtherMachine(t *testing.T) {
	s, w := sweep.Store{Dir: t.TempDir()}, sweeptest.Expand(t)
	w.Points[0].Key = strings.Repeat("0", 32)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if err := (records{w}).saveChunks("a", [][]sweep.Unit{w.Units(w.Points)}); err != nil {
		t.Fatal(err)
	}
	opened, err := s.Sweep(w.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := Work(t.Context(), sweep.Job{Store: s, Sweep: opened, Options: sweep.Options{Watch: silent}}, "a-0"); err != nil {
		t.Fatal(err)
	}
	failed, err := s.Failures(w)
	if err != nil || len(failed) != 1 || !strings.Contains(failed[0].Reason, "another measurement") {
		t.Errorf("%+v, %v", failed, err)
	}
	if todo, err := s.Todo(w, w.Measurements()); err != nil || len(todo) != 0 {
		t.Errorf("%v to do, %v", todo, err)
	}
	for _, name := range []string{"a", "a-1", "a--1", "../a-0"} {
		if err := Work(t.Context(), sweep.Job{Store: s, Sweep: opened}, name); err == nil || !strings.Contains(err.Error(), "no chunk") {
			t.Errorf("chunk %s: %v", name, err)
		}
	}
}
