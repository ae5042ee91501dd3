package netns_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/netns"
)

// TestBesideOthers: a lab is the first to name namespaces on a machine, and is
// removed after others have named theirs.
func TestBesideOthers(t *testing.T) {
	needRoot(t)
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs ip, of iproute2")
	}
	cmd := exec.Command(os.Args[0], "beside", t.TempDir())
	cmd.SysProcAttr = &unix.SysProcAttr{Unshareflags: unix.CLONE_NEWNS}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// beside is that life of a lab, in mounts of the process's own: where nobody has
// named a namespace yet.
func beside(root string) error {
	if err := unix.Mount("none", "/run", "tmpfs", 0, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	j, err := journal.Create(context.Background(), root, nil)
	if err != nil {
		return err
	}
	lab, err := netns.Up(context.Background(), j, plan(2))
	if err != nil {
		return err
	}
	if out, err := exec.Command("ip", "netns", "add", "other").CombinedOutput(); err != nil {
		return fmt.Errorf("ip: %w: %s", err, out)
	}
	if err := lab.Down(); err != nil {
		return err
	}
	left, err := os.ReadDir("/run/netns")
	if err == nil && (len(left) != 1 || left[0].Name() != "other") {
		err = fmt.Errorf("left: %v, want only the other's", left)
	}
	return errors.Join(err, j.Undo(undoers()))
}
