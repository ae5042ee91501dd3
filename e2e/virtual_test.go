//go:build linux

package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestVirtualTimeRepeats: a run with modelled hosts stores the same bytes
// whatever runs beside it. It needs no root.
func TestVirtualTimeRepeats(t *testing.T) {
	t.Parallel()
	stored := func(jobs string) map[string][]byte {
		run, _ := runLab(t, plainVar, "smoke", "--runtime", "sim", "--seeds", "1..3", "--jobs", jobs)
		files := map[string][]byte{}
		paths, err := filepath.Glob(filepath.Join(run.Dir, "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			name, err := filepath.Rel(run.Dir, path)
			if err != nil {
				t.Fatal(err)
			}
			if files[name], err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
	one, two := stored("1"), stored("2")
	if want := 5 * 2 * 3; len(one) != want || len(two) != want { // files, schemes, seeds
		t.Fatalf("%d and %d files, want %d", len(one), len(two), want)
	}
	for name, b := range one {
		if !bytes.Equal(b, two[name]) {
			t.Errorf("%s differs between one job and two", name)
		}
	}
}
