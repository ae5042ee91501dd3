package engine

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"aqmlab/kind"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
)

// TestSaved: whoever attaches has the parameters that the sweep was given, also where the
// cluster could not be reached at first.
func TestSaved(t *testing.T) {
	s, w := sweep.Store{Dir: t.TempDir()}, sweeptest.Expand(t)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Of(w); !errors.Is(err, ErrNone) {
		t.Errorf("before: %v", err)
	}
	given := map[string]any{"queue": kind.Text("7"), "option": []any{kind.Text("--exclusive"), kind.Text("--nice=5")}}
	e, err := New("slurm", given)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Run(ctx, e, w, sweep.Options{Jobs: 4, Watch: func(sweep.Progress) {}}); err == nil {
		t.Error("it ran")
	}
	if got, err := read(w); err != nil || !reflect.DeepEqual(got, saved{"slurm", given, 4}) {
		t.Errorf("%+v, %v", got, err)
	}
	if e, jobs, err := Of(w); err != nil || jobs != 4 || e.Cancel == nil {
		t.Errorf("%+v, %d jobs, %v", e, jobs, err)
	}
}
