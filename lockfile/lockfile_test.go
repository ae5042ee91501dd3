package lockfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestTry: two open files stand for two processes, as a lock belongs to the open file.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var files [2]*os.File
	for i := range files {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	if err := Try(files[0], Exclusive); err != nil {
		t.Fatal(err)
	}
	for _, how := range []How{Exclusive, Shared} {
		if err := Try(files[1], how); !errors.Is(err, ErrHeld) {
			t.Errorf("a lock beside one that excludes others: %v", err)
		}
	}
	if err := Wait(files[0], Shared); err != nil {
		t.Fatal(err)
	}
	if err := Try(files[1], Shared); err != nil {
		t.Errorf("two shared locks: %v", err)
	}
	if err := files[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := Try(files[1], Exclusive); err != nil {
		t.Errorf("after the other was closed: %v", err)
	}
}
