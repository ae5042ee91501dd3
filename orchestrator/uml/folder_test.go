package uml

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFolders: a new folder's owner removes those whose owner is gone, and no
// others.
func TestFolders(t *testing.T) {
	parent := filepath.Join(t.TempDir(), "made")
	mine, err := newFolder(t.Context(), parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	orphan, err := newFolder(t.Context(), parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	touch(t, filepath.Join(orphan.path, "deep/file"), filepath.Join(parent, "a-begun/file"), filepath.Join(parent, "b-1", lockName))
	if err := orphan.lock.Close(); err != nil { // as its owner's death does
		t.Fatal(err)
	}
	next, err := newFolder(t.Context(), parent, "a")
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
		if err := f.remove(context.Background()); err != nil {
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
	f, err := newFolder(t.Context(), parent, "x")
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
	if err := f.remove(context.Background()); err == nil {
		t.Error("a folder was removed in which a file system is mounted")
	}
	if err := unix.Unmount(filepath.Join(stuck, "b"), 0); err != nil {
		t.Fatal(err)
	}
	g, err := newFolder(t.Context(), parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer g.remove(context.Background())
	if left, err := os.ReadDir(parent); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestRemoveGoesOn: the removal of a large folder outlives a command that ends, and the
// folder is somebody's meanwhile.
func TestRemoveGoesOn(t *testing.T) {
	real, err := exec.LookPath("rm")
	if err != nil {
		t.Fatal(err)
	}
	parent, bin := t.TempDir(), t.TempDir()
	gate := filepath.Join(bin, "gate")
	slow := fmt.Sprintf("#!/bin/sh\nuntil [ -e %s ]; do sleep 0.01; done\nexec %s \"$@\"\n", gate, real)
	if err := os.WriteFile(filepath.Join(bin, "rm"), []byte(slow), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := newFolder(t.Context(), parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	touch(t, filepath.Join(f.path, "a", "file"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+path)
	if err := f.remove(ended); err != nil {
		t.Error(err)
	}
	t.Setenv("PATH", path)
	g, err := newFolder(t.Context(), parent, "x")
	if err != nil {
		t.Fatal(err)
	}
	if left, err := filepath.Glob(filepath.Join(f.path, "*")); err != nil || len(left) != 2 {
		t.Errorf("before it went on, it held %v, %v", left, err)
	}
	touch(t, gate)
	if err := g.remove(t.Context()); err != nil {
		t.Error(err)
	}
	for left := []string{""}; len(left) > 0; {
		if left, err = filepath.Glob(filepath.Join(parent, "*")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestForeignFolders: folders of our names that another user has made, and links, are left
// alone, and do not keep us from making one.
func TestForeignFolders(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: to be another user")
	}
	parent, precious := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	touch(t, filepath.Join(precious, lockName), filepath.Join(precious, "file"))
	if err := errors.Join(os.Chmod(filepath.Dir(parent), 0o755), os.Chmod(parent, 0o777|os.ModeSticky)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/bin/sh", "-c", `set -e; cd "$0"; mkdir a-1 a-2 a-4; touch a-1/.lock; ln -s "$1/.lock" a-2/.lock; ln -s "$1" a-3; mkfifo a-4/.lock`, parent, precious)
	c.Dir = "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := newFolder(t.Context(), parent, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.remove(context.Background()); err != nil {
		t.Error(err)
	}
	for _, path := range []string{filepath.Join(precious, "file"), filepath.Join(precious, lockName), filepath.Join(parent, "a-1", lockName), filepath.Join(parent, "a-4", lockName)} {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
}
