package store

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// stored writes points as a complete run in a new root.
func stored(t *testing.T, m results.Manifest, points []results.Point) *Run {
	t.Helper()
	w := create(t, t.TempDir(), m)
	addAll(t, w, points)
	dir, err := w.Finish(resultstest.Began().Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

func create(t *testing.T, root string, m results.Manifest) *Writer {
	t.Helper()
	w, err := Create(root, m, []byte(resultstest.LabText), describe)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func addAll(t *testing.T, w *Writer, points []results.Point) {
	t.Helper()
	for _, p := range points {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
	}
}

func open(t *testing.T, dir string) *Run {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// describe stands for what makes reports: it reads the flows.
func describe(r *Run) (map[string][]byte, error) {
	if _, err := r.ReadFlows(); err != nil {
		return nil, err
	}
	return map[string][]byte{SummaryFile: []byte("{}\n"), ReportFile: []byte("<!DOCTYPE html>\n")}, nil
}

// writeRows writes a table in place of a point's, and notes no checksum of it.
func writeRows[T any](t *testing.T, path string, rows []T) {
	t.Helper()
	if err := writeNew(path, func(w io.Writer) error { return parquet.Write(w, rows) }); err != nil {
		t.Fatal(err)
	}
}

// unsummed makes a point one of a version that noted no checksums, and its run one of
// such a version.
func unsummed(t *testing.T, point string) {
	t.Helper()
	if err := os.Remove(filepath.Join(point, sumsFile)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(point), manifestFile)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	object, err := Unseal(path, text)
	if err != nil {
		t.Fatal(err)
	}
	older := bytes.Replace(object, []byte(",\n  \"checksums\": true"), nil, 1)
	if err := os.WriteFile(path, older, 0o600); err != nil {
		t.Fatal(err)
	}
}
