package guest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestServeIsForInit: nobody else's machine is mounted over.
func TestServeIsForInit(t *testing.T) {
	if os.Getpid() == 1 {
		t.Skip("is process 1")
	}
	if _, err := serve(); err == nil || !strings.Contains(err.Error(), "process 1") {
		t.Errorf("got %v, want an error about process 1", err)
	}
}

// TestWait: the status is that of the one process, as a shell tells it, and the
// others that end are taken along.
func TestWait(t *testing.T) {
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -15 $$": 143} {
		other := exec.Command("/bin/sh", "-c", "exit 1")
		if err := other.Start(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", script)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if got, err := wait(cmd.Process.Pid); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", script, got, err, want)
		}
	}
}

// TestWaitForNobody: without children there is nothing to wait for.
func TestWaitForNobody(t *testing.T) {
	if _, err := wait(1); err == nil || !strings.Contains(err.Error(), "wait for the program") {
		t.Errorf("got %v, want an error", err)
	}
}

// TestOpenSerialRefuses what is no serial port, and what is not there.
func TestOpenSerialRefuses(t *testing.T) {
	for _, path := range []string{os.DevNull, "/nonexistent"} {
		if f, err := openSerial(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, %v; want an error with the path", path, f, err)
		}
	}
}
