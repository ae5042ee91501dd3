package journal

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// waits tells whether somebody waits for the lock of a file, as /proc/locks has it: "->"
// marks those that wait.
func waits(t *testing.T, path string) bool {
	t.Helper()
	var stat unix.Stat_t
	if err := unix.Stat(path, &stat); err != nil {
		t.Fatal(err)
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(locks) {
		if bytes.Contains(line, []byte("-> ")) && bytes.Contains(line, fmt.Appendf(nil, ":%d ", stat.Ino)) {
			return true
		}
	}
	return false
}

// TestUndoRemovesUnderTheRootsLock: whoever lists or opens labs holds the lock of the root,
// and then no folder below it is half gone. Undo waits for that lock before it removes one.
func TestUndoRemovesUnderTheRootsLock(t *testing.T) {
	root := filepath.Join(t.TempDir(), "labs")
	j, err := Create(t.Context(), root, nil)
	if err != nil {
		t.Fatal(err)
	}
	undone := make(chan error, 1)
	err = withRoot(context.Background(), root, func() error {
		go func() { undone <- j.Undo(Undoers{}) }()
		for !waits(t, filepath.Join(root, lockName)) {
			select {
			case err := <-undone:
				return fmt.Errorf("it was undone while another one had the lock: %w", err)
			default:
				runtime.Gosched()
			}
		}
		_, err := os.Stat(j.Dir())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-undone; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(j.Dir()); !os.IsNotExist(err) {
		t.Errorf("after undoing: %v", err)
	}
}
