package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// A run keeps its name in UTC whatever the clock on the wall shows: 2:30 on
// the day that summer time begins exists only there.
func TestFinishRenamesWhenWhole(t *testing.T) {
	root := filepath.Join(t.TempDir(), "runs")
	w := create(t, root, resultstest.StarManifest())
	points := resultstest.Measured()
	addAll(t, w, points)
	name := "20260329T003000Z-star-" + hashOf([]byte(resultstest.LabText))[:8]
	if got, want := w.Dir(), filepath.Join(root, ".partial-"+name); got != want {
		t.Errorf("grows in %s, want %s", got, want)
	}
	dir, err := w.Finish(resultstest.Began().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.Join(root, name); dir != want {
		t.Errorf("run is in %s, want %s", dir, want)
	}
	wantFiles(t, root, "latest", name)
	wantFiles(t, dir, append(foldersOf(points), "lab.yaml", "manifest.json", "report.html", "summary.json")...)
	wantFiles(t, filepath.Join(dir, "tcn-load0.9-seed2"), "SHA256SUMS", "flows.parquet", "point.json", "series.parquet")
	if got, err := os.Readlink(filepath.Join(root, "latest")); err != nil || got != name {
		t.Errorf("latest names %q (%v), want %q", got, err, name)
	}
	run := open(t, filepath.Join(root, "latest"))
	if m := run.Manifest; m.State != results.Complete || m.Reason != "" || !m.End.Equal(resultstest.Began().Add(time.Hour)) || len(m.Points) != len(points) {
		t.Errorf("manifest says %s %q, end %v, %d points", m.State, m.Reason, m.End, len(m.Points))
	}
	if string(run.LabYAML) != resultstest.LabText {
		t.Errorf("lab file holds %q", run.LabYAML)
	}
}

func foldersOf(points []results.Point) (names []string) {
	for _, p := range points {
		names = append(names, p.Folder())
	}
	return names
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o444 != 0o444 {
			t.Errorf("%s has mode %v: others cannot read it", e.Name(), info.Mode())
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

func TestRoundTrip(t *testing.T) {
	points := resultstest.Measured()
	points[3].Queues, points[3].Hosts = nil, nil
	got := stored(t, resultstest.StarManifest(), points).Points()
	if len(got) != len(points) {
		t.Fatalf("%d points, want %d", len(got), len(points))
	}
	for i, s := range got { // measured lists them in a run's order
		p, err := s.Read()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Queues) == 0 {
			p.Queues = nil
		}
		if !reflect.DeepEqual(p, points[i]) {
			t.Errorf("%s came back different", points[i].Folder())
		}
	}
}

func TestCreateRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*results.Manifest)
		want  string
	}{
		{"lab with a slash", func(m *results.Manifest) { m.Lab = "../star" }, `lab name "../star"`},
		{"no lab", func(m *results.Manifest) { m.Lab = "" }, "lab name"},
		{"scheme with a space", func(m *results.Manifest) { m.Schemes[1] = "t cn" }, `scheme name "t cn"`},
		{"no start", func(m *results.Manifest) { m.Start = time.Time{} }, "no start time"},
		{"foreign baseline", func(m *results.Manifest) { m.Baseline = "red" }, "droptail, tcn, codel"},
	} {
		root := t.TempDir()
		m := resultstest.StarManifest()
		c.spoil(&m)
		if _, err := Create(root, m, nil, describe); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.name, err, c.want)
		}
		wantFiles(t, root)
	}
}

func TestCreateSaysWhyItCannot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(file, resultstest.StarManifest(), nil, describe); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("creating a run in a file: %v", err)
	}
}

func TestRunsOfOneSecondGetTheirOwnFolders(t *testing.T) {
	root := t.TempDir()
	a, b := create(t, root, resultstest.StarManifest()), create(t, root, resultstest.StarManifest())
	addAll(t, a, resultstest.Measured()[:1])
	addAll(t, b, resultstest.Measured()[:1])
	first, err := a.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	if second != first+"-2" {
		t.Errorf("runs are in %s and %s", first, second)
	}
	third := create(t, root, resultstest.StarManifest())
	if got, want := filepath.Base(third.Dir()), ".partial-"+filepath.Base(first)+"-3"; got != want {
		t.Errorf("third run is in %s, want %s", got, want)
	}
	if _, err := third.Abort(resultstest.Began(), "enough"); err != nil {
		t.Fatal(err)
	}
}

func TestAddRefuses(t *testing.T) {
	w := create(t, t.TempDir(), resultstest.StarManifest())
	p := resultstest.Measured()[0]
	addAll(t, w, []results.Point{p})
	if err := w.Add(p); err == nil || !strings.Contains(err.Error(), "droptail at load 0.5, seed 1") {
		t.Errorf("adding a point twice: %v", err)
	}
	p.Scheme = "../escape"
	if err := w.Add(p); err == nil {
		t.Error("a scheme that leaves the folder was stored")
	}
	wantFiles(t, w.Dir(), "droptail-load0.5-seed1", "lab.yaml", "manifest.json")
}

func TestAbort(t *testing.T) {
	root := t.TempDir()
	w := create(t, root, resultstest.StarManifest())
	if dir, err := w.Abort(resultstest.Began(), "interrupted"); dir != "" || err != nil {
		t.Errorf("a run without points was kept in %q (%v)", dir, err)
	}
	wantFiles(t, root)

	w = create(t, root, resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:3])
	dir, err := w.Abort(resultstest.Began().Add(time.Second), "interrupted")
	if err != nil {
		t.Fatal(err)
	}
	run := open(t, dir)
	if m := run.Manifest; m.State != results.Partial || m.Reason != "interrupted" || len(m.Points) != 3 || m.End.IsZero() {
		t.Errorf("manifest says %s %q, %d points", m.State, m.Reason, len(m.Points))
	}
	wantFiles(t, dir, append(foldersOf(resultstest.Measured()[:3]), "lab.yaml", "manifest.json", "report.html", "summary.json")...)
}

// A killed process leaves its folder and, in it, the points that were whole
// and perhaps pieces of the next.
func TestKilledRunKeepsItsPoints(t *testing.T) {
	root := t.TempDir()
	w := create(t, root, resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	piece := filepath.Join(w.Dir(), unfinished+"tcn-load0.5-seed1")
	if err := errors.Join(os.Mkdir(piece, 0o755), os.WriteFile(filepath.Join(piece, flowsFile), []byte("PAR1"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if e := onlyEntry(t, root); e.State != results.Running || e.Points != 2 || e.Reason != "" {
		t.Errorf("while it grows, the run is listed as %+v", e)
	}
	if err := w.lock.Close(); err != nil { // what the kernel does when the process dies
		t.Fatal(err)
	}
	if e := onlyEntry(t, root); e.State != results.Interrupted || e.Points != 2 || e.Lab != "star" || !strings.Contains(e.Reason, "ended before the run") {
		t.Errorf("after the kill, the run is listed as %+v", e)
	}
	run := open(t, w.Dir())
	if len(run.Points()) != 2 || len(run.Manifest.Points) != 2 {
		t.Errorf("%d points, %d in the manifest, want 2", len(run.Points()), len(run.Manifest.Points))
	}
}

func onlyEntry(t *testing.T, root string) Entry {
	t.Helper()
	entries, err := List(root)
	if err != nil || len(entries) != 1 {
		t.Fatalf("listed %v (%v), want one run", entries, err)
	}
	return entries[0]
}

func TestListShowsDamage(t *testing.T) {
	root := t.TempDir()
	if entries, err := List(filepath.Join(root, "none")); err != nil || entries != nil {
		t.Errorf("a root that does not exist: %v, %v", entries, err)
	}
	w := create(t, root, resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	if e := onlyEntry(t, root); e.State != results.Complete || e.Points != 2 || !e.Start.Equal(resultstest.Began()) {
		t.Errorf("whole run is listed as %+v", e)
	}
	if err := os.RemoveAll(filepath.Join(dir, "droptail-load0.5-seed2")); err != nil {
		t.Fatal(err)
	}
	if e := onlyEntry(t, root); e.State != results.Broken || !strings.Contains(e.Reason, "droptail at load 0.5, seed 2") {
		t.Errorf("run without a point is listed as %+v", e)
	}
	if err := os.WriteFile(filepath.Join(dir, manifestFile), []byte(`{"state": "comp`), 0o644); err != nil {
		t.Fatal(err)
	}
	if e := onlyEntry(t, root); e.State != results.Broken || !strings.Contains(e.Reason, "manifest.json") {
		t.Errorf("run with half a manifest is listed as %+v", e)
	}
	if _, err := List(filepath.Join(dir, labFile)); err == nil {
		t.Error("a file was listed")
	}
}

// TestListKilledAtOnce: a run that was killed before it had a manifest is none.
func TestListKilledAtOnce(t *testing.T) {
	root := t.TempDir()
	w := create(t, root, resultstest.StarManifest())
	if err := os.Remove(filepath.Join(w.Dir(), manifestFile)); err != nil {
		t.Fatal(err)
	}
	onlyEntry(t, root)                     // while it is being made
	if err := w.lock.Close(); err != nil { // as the end of the process does
		t.Fatal(err)
	}
	if entries, err := List(root); err != nil || len(entries) > 0 {
		t.Errorf("listed %+v, %v", entries, err)
	}
}

func TestListIsByTime(t *testing.T) {
	root := t.TempDir()
	late := resultstest.StarManifest()
	late.Start = resultstest.Began().Add(time.Hour)
	w := create(t, root, late) // still grows
	early := create(t, root, resultstest.StarManifest())
	addAll(t, early, resultstest.Measured()[:1])
	if _, err := early.Finish(resultstest.Began()); err != nil {
		t.Fatal(err)
	}
	entries, err := List(root)
	if err != nil || len(entries) != 2 || entries[0].State != results.Complete || entries[1].State != results.Running {
		t.Errorf("listed %+v (%v)", entries, err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
}

// Whatever happens to a Parquet file, reading it says which one is bad.
func TestDamagedParquet(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"cut in half": func(b []byte) []byte { return b[:len(b)/2] },
		"empty":       func([]byte) []byte { return nil },
		"no footer":   func(b []byte) []byte { return b[:len(b)-4] },
		"not Parquet": func([]byte) []byte { return []byte("hello, this is no parquet file") },
		"zeroed data": func(b []byte) []byte { clear(b[4 : len(b)/2]); return b },
	} {
		for _, file := range []string{flowsFile, seriesFile} {
			run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])
			path := filepath.Join(run.Dir, "droptail-load0.5-seed1", file)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := run.Points()[0].Read(); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s, %s: error %v does not name the file", name, file, err)
			}
		}
	}
}

func TestMissingParquet(t *testing.T) {
	run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])
	if err := os.Remove(filepath.Join(run.Dir, "droptail-load0.5-seed1", flowsFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Points()[0].Read(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v does not say that the file is missing", err)
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	run := stored(t, resultstest.StarManifest(), resultstest.Measured()[:1])
	point := "droptail-load0.5-seed1/point.json"
	if err := os.Remove(filepath.Join(run.Dir, point)); err != nil {
		t.Fatal(err)
	}
	if d := open(t, run.Dir).Damaged(); len(d) != 1 || d[0].Coord != run.Points()[0].Coord || !strings.Contains(d[0].Err.Error(), point) {
		t.Errorf("without %s: %+v", point, d)
	}
	for _, file := range []string{labFile, manifestFile} {
		if err := os.Remove(filepath.Join(run.Dir, file)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(run.Dir); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("without %s: %v", file, err)
		}
	}
}

func TestAbortAfterFailedFinish(t *testing.T) {
	root := t.TempDir()
	w := create(t, root, resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	bad := filepath.Join(w.Dir(), "droptail-load0.5-seed1", flowsFile)
	if err := os.Truncate(bad, 100); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(resultstest.Began()); err == nil || !strings.Contains(err.Error(), bad) {
		t.Fatalf("finished over a damaged point: %v", err)
	}
	dir, err := w.Abort(resultstest.Began(), "disk failed")
	if err == nil || dir == "" {
		t.Fatalf("kept in %q, error %v: want both", dir, err)
	}
	if m := open(t, dir).Manifest; m.State != results.Partial || m.Reason != "disk failed" {
		t.Errorf("manifest says %s %q", m.State, m.Reason)
	}
}
