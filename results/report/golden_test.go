package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

var update = flag.Bool("update", false, "rewrite the files under testdata")

// golden compares got with testdata/name and, when they differ, leaves what
// it got beside it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		if err := os.WriteFile(path+".got", got, 0o644); err != nil {
			t.Error(err)
		}
		t.Errorf("%s differs from what is in %s.got; run with -update if that is right", path, path)
	}
}

// stored writes points as a complete run in a new root.
func stored(t *testing.T, m results.Manifest, points []results.Point) *store.Run {
	t.Helper()
	w, err := store.Create(t.TempDir(), m, []byte(resultstest.LabText), Describe)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range points {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := w.Finish(resultstest.Began().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	run, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// compared compares points that can be.
func compared(t *testing.T, points []results.Point) compare.Comparison {
	t.Helper()
	c, err := compare.Points(points, "")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const us, ms = time.Microsecond, time.Millisecond
