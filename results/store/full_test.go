//go:build linux

package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/results"
	"aqmlab/results/resultstest"
)

// small is a file system of that many bytes.
func small(t *testing.T, options string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting a file system needs root")
	}
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, options); err != nil {
		t.Skipf("mounting a file system: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// TestDiskFull: wherever the disk is full, the points that were stored are whole, the error
// says so, and the run is completed when there is room again.
func TestDiskFull(t *testing.T) {
	root := small(t, "size=4m")
	for _, end := range []struct {
		name string
		with func(w *Writer) error
	}{
		{"finish", func(w *Writer) error { _, err := w.Finish(resultstest.Began()); return err }},
		{"abort", func(w *Writer) error { _, err := w.Abort(resultstest.Began(), "no room"); return err }},
		{"add", func(w *Writer) error {
			err := w.Add(resultstest.Measured()[2])
			_, aborted := w.Abort(resultstest.Began(), "no room")
			return errors.Join(err, aborted)
		}},
	} {
		t.Run(end.name, func(t *testing.T) {
			runs := filepath.Join(root, end.name)
			w := create(t, runs, resultstest.StarManifest())
			addAll(t, w, resultstest.Measured()[:2])
			filler := filepath.Join(root, "filler")
			f, err := os.Create(filler)
			if err != nil {
				t.Fatal(err)
			}
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			err = end.with(w)
			if !errors.Is(err, unix.ENOSPC) {
				t.Fatalf("error %v, want one for a full disk", err)
			}
			for _, want := range []string{"2 points are whole", "droptail-load0.5-seed1, droptail-load0.5-seed2", "aqmlab run --resume " + runs} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in %v", want, err)
				}
			}
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			_ = w.lock.Close() // as the end of the process does
			entries, err := List(runs)
			if err != nil || len(entries) != 1 {
				t.Fatalf("%+v, %v", entries, err)
			}
			again, err := Resume(entries[0].Dir, later(), []byte(resultstest.LabText), describe)
			if err != nil {
				t.Fatal(err)
			}
			addAll(t, again, resultstest.Measured()[2:4])
			dir, err := again.Finish(resultstest.Began())
			if err != nil {
				t.Fatal(err)
			}
			if h := Verify(dir); h.Points != 4 || len(h.Flaws) > 0 || EntryOf(dir).State != results.Complete {
				t.Errorf("completed, it is %+v", h)
			}
		})
	}
}

func TestCheckWritable(t *testing.T) {
	dir := t.TempDir()
	if err := CheckWritable(filepath.Join(dir, "a", "b")); err != nil {
		t.Error(err)
	}
	wantFiles(t, dir)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckWritable(filepath.Join(file, "a")); !errors.Is(err, unix.ENOTDIR) || !strings.Contains(err.Error(), file) {
		t.Errorf("below a file: %v", err)
	}
	fixed := small(t, "size=1m")
	if err := unix.Mount("", fixed, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Skipf("making a file system read-only: %v", err)
	}
	if err := CheckWritable(filepath.Join(fixed, "runs")); !errors.Is(err, unix.EROFS) {
		t.Errorf("on a read-only file system: %v", err)
	}
}
