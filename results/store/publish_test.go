package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// Readers see the last state as long as the run is made, and none before or
// after.
func TestPublish(t *testing.T) {
	root := t.TempDir()
	if growing, err := Growing(filepath.Join(root, "none")); err != nil || len(growing) > 0 {
		t.Errorf("a folder that is not there: %v, %v", growing, err)
	}
	w := create(t, root, resultstest.StarManifest())
	if _, err := ReadLive(w.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the first state: %v", err)
	}
	for n := range int64(3) {
		l := results.Live{At: resultstest.Began().UTC(), Of: 12, Points: []results.LivePoint{{Coord: results.Coord{Scheme: "tcn"}, Number: 1, Flows: 600, Completed: n, Seen: results.See(nil, nil)}}}
		if err := w.Publish(l); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLive(w.Dir())
		if err != nil || got.Of != 12 || got.Points[0].Completed != n {
			t.Errorf("read %+v, %v", got, err)
		}
	}
	growing, err := Growing(root)
	if err != nil || len(growing) != 1 || growing[0].Dir != w.Dir() || growing[0].State != results.Running || growing[0].Lab != "star" {
		t.Errorf("growing %+v, %v", growing, err)
	}
	addAll(t, w, resultstest.Measured()[:1])
	dir, err := w.Finish(resultstest.Began())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLive(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: %v", err)
	}
	if growing, err := Growing(root); err != nil || len(growing) > 0 {
		t.Errorf("after the end %+v grows, %v", growing, err)
	}
}

// What a killed run leaves does not grow, and half a file is an error that names
// it.
func TestLiveOfADeadRun(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, unfinished+"dead")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, liveFile), []byte(`{"of": `), 0o644); err != nil {
		t.Fatal(err)
	}
	if growing, err := Growing(root); err != nil || len(growing) > 0 {
		t.Errorf("growing %+v, %v", growing, err)
	}
	if _, err := ReadLive(dir); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("half a file: %v", err)
	}
}
