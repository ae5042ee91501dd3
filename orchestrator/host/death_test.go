package host

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAwaitDeath: a living process outlasts the deadline, a killed one does not.
func TestAwaitDeath(t *testing.T) {
	c := exec.Command("sleep", "1000")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(c.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := AwaitDeath(fd, time.Now()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("alive: %v", err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := AwaitDeath(fd, time.Now().Add(time.Minute)); err != nil {
		t.Errorf("killed: %v", err)
	}
	_ = c.Wait()
}
