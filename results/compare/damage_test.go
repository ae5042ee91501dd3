package compare

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
	"aqmlab/results/store"
)

// TestDamagedPointIsLeftOut: a comparison goes on without a damaged point, and without what
// other schemes measured on its flows, so that all are compared on the same seeds.
func TestDamagedPointIsLeftOut(t *testing.T) {
	w, err := store.Create(t.TempDir(), resultstest.StarManifest(), []byte(resultstest.LabText), nil)
	if err != nil {
		t.Fatal(err)
	}
	var rest []results.Point
	for _, p := range resultstest.Measured() {
		if err := w.Add(p); err != nil {
			t.Fatal(err)
		}
		if p.Load != 0.9 || p.Seed != 2 {
			rest = append(rest, p)
		}
	}
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	want, err := Points(rest, "droptail")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"flows.parquet", "point.json", "SHA256SUMS"} {
		path := filepath.Join(dir, "tcn-load0.9-seed2", file)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		damaged := slices.Clone(whole)
		damaged[40] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := store.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Runs([]*store.Run{run}, "")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.Rows, want.Rows) {
			t.Errorf("%s: %+v, want %+v", file, c.Rows, want.Rows)
		}
		for _, total := range c.Totals {
			if seeds := map[float64][]uint64{0.5: {1, 2}, 0.9: {1}}[total.Load]; !slices.Equal(total.Seeds, seeds) {
				t.Errorf("%s: %s at load %v rests on seeds %v, want %v", file, total.Scheme, total.Load, total.Seeds, seeds)
			}
		}
		text := strings.Join(c.Warnings, "\n")
		for _, part := range []string{path, "tcn-load0.9-seed2", "load 0.9, seed 2", "results repair " + dir} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q is not in the warnings %s", file, part, text)
			}
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
