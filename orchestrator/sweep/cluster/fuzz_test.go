package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aqmlab/bounded"
	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/sweeptest"
)

// noted is what a sweep has of the jobs of one array, whose files it makes of text.
func noted(t testing.TB, w *sweep.Sweep, record, chunks string) records {
	t.Helper()
	r := records{w}
	for path, text := range map[string]string{r.file("a1", recordSuffix): record, r.chunkFile("a1"): chunks} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func saved(t testing.TB) *sweep.Sweep {
	t.Helper()
	s, w := sweep.Store{Dir: t.TempDir()}, sweeptest.Expand(t)
	if err := s.Save(w); err != nil {
		t.Fatal(err)
	}
	return w
}

// FuzzRecords: whatever the files of a sweep's jobs hold, reading them gives jobs of this
// array, or an error that names the file.
func FuzzRecords(f *testing.F) {
	w := saved(f)
	f.Add(`{"id":"a1","name":"aqmlab-x-a1","job":"101","tasks":2,"attempt":1,"submitted":"2026-11-23T00:00:00Z"}`, `[["ab12"],["cd34","ef56"]]`)
	f.Add(`{"id":"../../a1"}`, `[[]]`)
	f.Add(`null`, `{"a":1}`)
	f.Fuzz(func(t *testing.T, record, chunks string) {
		r := noted(t, w, record, chunks)
		arrays, err := r.all()
		if err != nil && !strings.Contains(err.Error(), r.file("a1", recordSuffix)) {
			t.Errorf("error %v does not name the file", err)
		}
		if err == nil && (len(arrays) != 1 || arrays[0].ID != "a1") {
			t.Errorf("%+v", arrays)
		}
		if _, err := r.chunks("a1"); err != nil && !strings.Contains(err.Error(), r.chunkFile("a1")) {
			t.Errorf("error %v does not name the file", err)
		}
		if _, err := r.chunk("a1-1"); err != nil && !strings.Contains(err.Error(), "a1") {
			t.Errorf("error %v does not name the chunk", err)
		}
	})
}

// TestLargeRecords: files that are far too large are refused, and of a log only the end is
// read.
func TestLargeRecords(t *testing.T) {
	r := noted(t, saved(t), "{}", "[]")
	log := r.file("a1", "-0.log")
	if err := os.WriteFile(log, []byte("at first\nat last \n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := r.lastWords("a1", 0); got != "at last" {
		t.Errorf("last words %q", got)
	}
	for _, path := range []string{r.file("a1", recordSuffix), r.chunkFile("a1"), log} {
		if err := os.Truncate(path, maxFile+1); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.all(); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("jobs: %v", err)
	}
	if _, err := r.chunks("a1"); !errors.Is(err, bounded.ErrTooLarge) {
		t.Errorf("chunks: %v", err)
	}
	if got := r.lastWords("a1", 0); len(got) > maxWords {
		t.Errorf("last words of %d bytes", len(got))
	}
}
