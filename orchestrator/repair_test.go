package orchestrator

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/report"
	"aqmlab/results/store"
)

// TestRepairedRunIsCompleted: a run with a damaged point is not gone on with, says what to
// do, and is then, byte for byte, what it was.
func TestRepairedRunIsCompleted(t *testing.T) {
	run, err := Run(t.Context(), parse(t, small), RunOptions{Runtime: "sim", Jobs: 2, Out: t.TempDir(), Watcher: &diary{}})
	if err != nil {
		t.Fatal(err)
	}
	before := pointFiles(t, run.Dir)
	path := filepath.Join(run.Points()[3].Path(), "series.parquet")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), parse(t, small), RunOptions{Resume: run, Watcher: &diary{}})
	if !errors.Is(err, ErrNotResumed) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "aqmlab results repair "+run.Dir) {
		t.Errorf("going on with a damaged run: %v", err)
	}
	if dropped, err := store.Repair(run.Dir, report.Describe); err != nil || len(dropped) != 1 {
		t.Fatalf("dropped %v, %v", dropped, err)
	}
	if run, err = store.Open(run.Dir); err != nil {
		t.Fatal(err)
	}
	w := &stopper{}
	run, err = Run(t.Context(), parse(t, small), RunOptions{Resume: run, Watcher: w})
	if err != nil || len(w.begun) != 1 || run.Manifest.State != results.Complete {
		t.Fatalf("completed %v, %v: %v", run, w.begun, err)
	}
	if !slices.Equal(pointFiles(t, run.Dir), before) {
		t.Error("the repaired and completed run is stored otherwise than before")
	}
}
