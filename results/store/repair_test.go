package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// flip changes a byte in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRepair: what is damaged goes, whatever it is, the rest stays as it is, and the run can
// be gone on with.
func TestRepair(t *testing.T) {
	measured := resultstest.Measured()[:4]
	for name, damage := range map[string]func(t *testing.T, folder string){
		"flows":     func(t *testing.T, folder string) { flip(t, filepath.Join(folder, flowsFile)) },
		"series":    func(t *testing.T, folder string) { flip(t, filepath.Join(folder, seriesFile)) },
		"point":     func(t *testing.T, folder string) { flip(t, filepath.Join(folder, pointFile)) },
		"checksums": func(t *testing.T, folder string) { flip(t, filepath.Join(folder, sumsFile)) },
		"missing": func(t *testing.T, folder string) {
			if err := os.RemoveAll(folder); err != nil {
				t.Fatal(err)
			}
		},
		"no point": func(t *testing.T, folder string) {
			if err := os.Remove(filepath.Join(folder, pointFile)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := stored(t, resultstest.StarManifest(), measured)
			if h := Verify(run.Dir); h.Points != 4 || len(h.Flaws) > 0 {
				t.Errorf("before, it is %+v", h)
			}
			lost := measured[1].Folder()
			damage(t, filepath.Join(run.Dir, lost))
			if h := Verify(run.Dir); h.Points != 3 || len(h.Flaws) != 1 || h.Flaws[0].Point != lost || !strings.Contains(h.Flaws[0].Why, lost) && !strings.Contains(h.Flaws[0].Why, measured[1].String()) {
				t.Errorf("damaged, it is %+v", h)
			}
			dropped, err := Repair(run.Dir, describe)
			if err != nil || !slices.Equal(dropped, []string{lost}) {
				t.Fatalf("dropped %v, %v", dropped, err)
			}
			if h := Verify(run.Dir); h.Points != 3 || len(h.Flaws) > 0 {
				t.Errorf("repaired, it is %+v", h)
			}
			kept := slices.Delete(slices.Clone(measured), 1, 2)
			wantFiles(t, run.Dir, append(foldersOf(kept), labFile, manifestFile, ReportFile, SummaryFile)...)
			if e := EntryOf(run.Dir); e.State != results.Partial || e.Points != 3 || !strings.Contains(e.Reason, lost) {
				t.Errorf("it is listed as %+v", e)
			}
			w, err := Resume(run.Dir, later(), []byte(resultstest.LabText), describe)
			if err != nil {
				t.Fatal(err)
			}
			addAll(t, w, measured[1:2])
			if _, err := w.Finish(resultstest.Began()); err != nil {
				t.Fatal(err)
			}
			if e := EntryOf(run.Dir); e.State != results.Complete || e.Points != 4 {
				t.Errorf("completed, it is %+v", e)
			}
		})
	}
}

// TestRepairOfReaders: files for readers are made anew, and no point goes.
func TestRepairOfReaders(t *testing.T) {
	run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:2])
	flip(t, filepath.Join(run.Dir, SummaryFile))
	if h := Verify(run.Dir); h.Points != 2 || len(h.Flaws) != 1 || !strings.Contains(h.Flaws[0].Why, SummaryFile) {
		t.Errorf("damaged, it is %+v", h)
	}
	if dropped, err := Repair(run.Dir, describe); err != nil || dropped != nil {
		t.Errorf("dropped %v, %v", dropped, err)
	}
	if h := Verify(run.Dir); h.Points != 2 || len(h.Flaws) > 0 || EntryOf(run.Dir).State != results.Complete {
		t.Errorf("repaired, it is %+v", h)
	}
}

// TestRepairOfAll: a run that has no whole point left can still be gone on with.
func TestRepairOfAll(t *testing.T) {
	run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])
	flip(t, run.Points()[0].path(flowsFile))
	if _, err := Repair(run.Dir, describe); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, run.Dir, labFile, manifestFile)
	if err := open(t, run.Dir).CheckResumable(later(), []byte(resultstest.LabText)); err != nil {
		t.Error(err)
	}
}

// TestRepairCutShort: wherever it stops, what was whole is there, and it can be repeated.
func TestRepairCutShort(t *testing.T) {
	for name, until := range map[string]func(w *Writer, r *Run){
		"after the manifest": func(w *Writer, r *Run) {
			w.manifest.State, w.manifest.Points = results.Partial, r.infos()
			if err := w.writeManifest(); err != nil {
				t.Fatal(err)
			}
		},
		"after a renaming": func(w *Writer, r *Run) {
			lost := resultstest.Measured()[0].Folder()
			if err := os.Rename(filepath.Join(w.dir, lost), filepath.Join(w.dir, unfinished+lost)); err != nil {
				t.Fatal(err)
			}
		},
	} {
		run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:3])
		flip(t, run.Points()[0].path(flowsFile))
		until(&Writer{root: filepath.Dir(run.Dir), name: filepath.Base(run.Dir), dir: run.Dir, manifest: run.Manifest}, run.Sound(Point.verify))
		if _, err := Repair(run.Dir, describe); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h := Verify(run.Dir); h.Points != 2 || len(h.Flaws) > 0 {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

func TestRepairRefuses(t *testing.T) {
	for _, file := range []string{manifestFile, labFile} {
		run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])
		flip(t, filepath.Join(run.Dir, file))
		if _, err := Repair(run.Dir, describe); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "run the lab anew") {
			t.Errorf("%s is damaged: %v", file, err)
		}
		wantFiles(t, run.Dir, resultstest.Measured()[0].Folder(), labFile, manifestFile, ReportFile, SummaryFile)
	}
	w := create(t, t.TempDir(), resultstest.StarManifest())
	if _, err := Repair(w.Dir(), describe); err == nil {
		t.Error("a run was repaired while it is made")
	}
}
