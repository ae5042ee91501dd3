package uml

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFolders: a new folder's owner removes those whose owner is gone, and no
// others.
func TestFolders(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "made")
	mine, err := newFolder(parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := newFolder(parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	touch(t, filepath.Join(orphan.path, "deep/file"), filepath.Join(parent, "a-begun/file"), filepath.Join(parent, "b-1", lockName))
	if err := orphan.lock.Close(); err != nil { // as its owner's death does
		t.Fatal(err)
	}
	next, err := newFolder(parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		mine.path: true, next.path: true, orphan.path: false,
		filepath.Join(parent, "a-begun"): true, filepath.Join(parent, "b-1"): true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, want it there: %t", path, err, want)
		}
	}
	for _, f := range []*folder{mine, mine, next} {
		if err := f.remove(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(mine.path); err == nil {
		t.Error("a removed folder is there")
	}
}

// TestRemoveLockLast: as long as anything is left of a folder, its lock is, by which
// others see that it is nobody's.
func TestRemoveLockLast(t *testing.T) {
	parent := t.TempDir()
	f, err := newFolder(parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	stuck := filepath.Join(f.path, "a")
	if err := os.MkdirAll(filepath.Join(stuck, "b"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("tmpfs", filepath.Join(stuck, "b"), "tmpfs", 0, ""); err != nil {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	if err := f.remove(); err == nil {
		t.Error("a folder was removed in which a file system is mounted")
	}
	if err := unix.Unmount(filepath.Join(stuck, "b"), 0); err != nil {
		t.Fatal(err)
	}
	g, err := newFolder(parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer g.remove()
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
