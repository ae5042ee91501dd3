package sweep_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
)

// flip changes a byte in the middle of a file, and returns what it was.
func flip(t *testing.T, path string) (whole []byte) {
	t.Helper()
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.Clone(whole)
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return whole
}

// TestDamagedPointIsMeasuredAgain: whichever file of a stored point is damaged, the sweep
// warns, measures the point again, and no other.
func TestDamagedPointIsMeasuredAgain(t *testing.T) {
	var warned []string
	s := sweep.Store{Dir: t.TempDir(), Warn: func(text string) { warned = append(warned, text) }}
	w := sweeptest.Expand(t)
	if _, err := run(t.Context(), t, s, w); err != nil {
		t.Fatal(err)
	}
	p := w.Points[1]
	for _, file := range []string{
		"figures.json", "manifest.json", "lab.yaml", filepath.Join(p.Folder(), "flows.parquet"), filepath.Join(p.Folder(), "series.parquet"),
		filepath.Join(p.Folder(), "point.json"), filepath.Join(p.Folder(), "SHA256SUMS"),
	} {
		path := filepath.Join(s.Folder(p.Key), file)
		whole := flip(t, path)
		warned = nil
		if _, err := run(t.Context(), t, s, w); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if len(warned) != 1 || !strings.Contains(warned[0], path) {
			t.Errorf("%s: warned %q", file, warned)
		}
		again, err := os.ReadFile(path)
		if err != nil || file != "manifest.json" && !bytes.Equal(again, whole) { // a manifest has times
			t.Errorf("%s is another, %v", file, err)
		}
		warned = nil
		if todo, err := s.Todo(w, w.Measurements()); err != nil || len(todo) > 0 || len(warned) > 0 {
			t.Errorf("%s: %d points left, %v, warned %q", file, len(todo), err, warned)
		}
	}
}

// TestDamagedSweep: what a sweep asked for is not another than it was.
func TestDamagedSweep(t *testing.T) {
	s, w := sweep.Store{Dir: t.TempDir()}, sweeptest.Expand(t)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(w.Folder(), "sweep.json")
	whole := flip(t, path)
	if _, err := s.Sweep(w.Name); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged sweep: %v", err)
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	lab := filepath.Join(w.Folder(), "labs", "0.yaml")
	flip(t, lab)
	opened, err := s.Sweep(w.Name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Units(opened.Points[:1])[0].Lab(); err == nil || !strings.Contains(err.Error(), lab) {
		t.Errorf("a damaged lab: %v", err)
	}
}
