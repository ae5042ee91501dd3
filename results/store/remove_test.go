package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// twoRuns stores two runs in a root, the second of which is the latest.
func twoRuns(t *testing.T) (root, first, second string) {
	t.Helper()
	root = t.TempDir()
	for i, dir := range []*string{&first, &second} {
		m := resultstest.StarManifest()
		m.Start = m.Start.Add(time.Duration(i) * time.Hour)
		w := create(t, root, m)
		addAll(t, w, resultstest.Measured()[:2])
		var err error
		if *dir, err = w.Finish(resultstest.Began()); err != nil {
			t.Fatal(err)
		}
	}
	return root, first, second
}

func latestOf(t *testing.T, root string) string {
	t.Helper()
	to, err := os.Readlink(filepath.Join(root, latestLink))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return to
}

// TestRemove: runs go one by one, and latest follows what is left.
func TestRemove(t *testing.T) {
	root, first, second := twoRuns(t)
	if err := CheckRemovable(second); err != nil {
		t.Fatal(err)
	}
	if err := Remove(second); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, root, filepath.Base(first), latestLink)
	if to := latestOf(t, root); to != filepath.Base(first) {
		t.Errorf("latest names %q, want %q", to, filepath.Base(first))
	}
	if err := Remove(first); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, root)
}

func TestRemoveLeavesAnotherLatest(t *testing.T) {
	root, first, second := twoRuns(t)
	if err := Remove(first); err != nil {
		t.Fatal(err)
	}
	if to := latestOf(t, root); to != filepath.Base(second) {
		t.Errorf("latest names %q, want %q", to, filepath.Base(second))
	}
}

// TestRemoveKilled: what a killed process left is a run's, whatever is in it.
func TestRemoveKilled(t *testing.T) {
	root := t.TempDir()
	w := create(t, root, resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	if err := Remove(w.Dir()); err == nil || !strings.Contains(err.Error(), "still being made") {
		t.Errorf("removing a run that grows: %v", err)
	}
	piece := filepath.Join(w.Dir(), unfinished+"tcn-load0.5-seed1")
	if err := errors.Join(
		os.Mkdir(piece, 0o755),
		os.WriteFile(filepath.Join(piece, flowsFile), []byte("PAR1"), 0o644),
		os.WriteFile(filepath.Join(w.Dir(), SummaryFile+".new"), nil, 0o644),
		os.Remove(filepath.Join(w.Dir(), manifestFile)),
		w.lock.Close(),
	); err != nil {
		t.Fatal(err)
	}
	if err := Remove(w.Dir()); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, root)
}

// TestRemoveRenamed: a run stays one under another name.
func TestRemoveRenamed(t *testing.T) {
	root, first, _ := twoRuns(t)
	renamed := filepath.Join(root, "before-the-upgrade")
	if err := os.Rename(first, renamed); err != nil {
		t.Fatal(err)
	}
	if entries, err := List(root); err != nil || len(entries) != 2 {
		t.Errorf("listed %v (%v), want both runs", entries, err)
	}
	if err := Remove(renamed); err != nil {
		t.Error(err)
	}
}

// TestRemoveNothingElse: what is no run, or has something else in it, stays as
// it is.
func TestRemoveNothingElse(t *testing.T) {
	for name, c := range map[string]struct {
		make func(root, run string) (string, error)
		want string
	}{
		"a folder": {func(root, _ string) (string, error) {
			return filepath.Join(root, "mine"), os.Mkdir(filepath.Join(root, "mine"), 0o755)
		}, "it is not the folder of a run"},
		"a folder with a manifest of something else": {func(root, run string) (string, error) {
			dir := filepath.Join(root, "mine")
			return dir, errors.Join(os.Rename(run, dir), os.WriteFile(filepath.Join(dir, labFile), []byte("name: y\n"), 0o644))
		}, "it is not the folder of a run"},
		"a file": {func(root, _ string) (string, error) {
			path := filepath.Join(root, "20260329T003000Z-star-0123abcd")
			return path, os.WriteFile(path, nil, 0o644)
		}, "it is no folder"},
		"a link": {func(root, _ string) (string, error) { return filepath.Join(root, latestLink), nil }, "it is no folder"},
		"notes in it": {func(_, run string) (string, error) {
			return run, os.WriteFile(filepath.Join(run, "notes.txt"), nil, 0o644)
		}, "it holds what no run has, move it away first: notes.txt"},
		"notes in a point": {func(_, run string) (string, error) {
			return run, os.WriteFile(filepath.Join(run, "droptail-load0.5-seed1", "notes.txt"), nil, 0o644)
		}, "droptail-load0.5-seed1/notes.txt"},
		"a folder in it": {func(_, run string) (string, error) {
			return run, os.Mkdir(filepath.Join(run, "plots"), 0o755)
		}, "plots"},
		"a link in it": {func(_, run string) (string, error) {
			return run, os.Symlink("/etc", filepath.Join(run, "a-load1-seed1"))
		}, "a-load1-seed1"},
		"nothing": {func(root, _ string) (string, error) { return filepath.Join(root, "none"), nil }, "no such file"},
	} {
		root, run, _ := twoRuns(t)
		dir, err := c.make(root, run)
		if err != nil {
			t.Fatal(err)
		}
		before := treeOf(t, root)
		for what, remove := range map[string]func(string) error{"Remove": Remove, "CheckRemovable": CheckRemovable} {
			if err := remove(dir); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s of %s: error %v, want one with %q", what, name, err, c.want)
			}
		}
		if after := treeOf(t, root); after != before {
			t.Errorf("%s: before\n%s\nafter\n%s", name, before, after)
		}
	}
}

func treeOf(t *testing.T, root string) string {
	t.Helper()
	var names []string
	if err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		names = append(names, path)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}

func TestFind(t *testing.T) {
	root, first, second := twoRuns(t)
	w := create(t, root, resultstest.StarManifest())
	for ref, want := range map[string]string{
		filepath.Base(first): first, first: first, first + "/": first,
		"latest": second, filepath.Join(root, "latest"): second,
		strings.TrimPrefix(filepath.Base(w.Dir()), unfinished): w.Dir(),
	} {
		if got, err := Find(root, ref); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", ref, got, err, want)
		}
	}
	for _, ref := range []string{"", "none", "none/"} {
		if _, err := Find(root, ref); err == nil || !strings.Contains(err.Error(), filepath.Base(second)) {
			t.Errorf("%q: error %v does not list what there is", ref, err)
		}
	}
	if _, err := Find(filepath.Join(root, "none"), "x"); err == nil || !strings.Contains(err.Error(), "there are no runs") {
		t.Errorf("in an empty root: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
}

// TestListChecksFiles: a table that was cut short is damage, which shows
// without reading all of it; a folder of somebody else is no run.
func TestListChecksFiles(t *testing.T) {
	root := t.TempDir()
	w := create(t, root, resultstest.StarManifest())
	addAll(t, w, resultstest.Measured()[:2])
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, "plots"), 0o755); err != nil {
		t.Fatal(err)
	}
	if e := onlyEntry(t, root); e.State != results.Complete || e.Runtime != "netns" || e.Planned != 12 {
		t.Errorf("listed as %+v", e)
	}
	for _, file := range []string{seriesFile, flowsFile} {
		bad := filepath.Join(dir, "droptail-load0.5-seed1", file)
		if err := os.Truncate(bad, 100); err != nil {
			t.Fatal(err)
		}
		if e := onlyEntry(t, root); e.State != results.Broken || !strings.Contains(e.Reason, bad) {
			t.Errorf("run with half of %s is listed as %+v", file, e)
		}
	}
}
