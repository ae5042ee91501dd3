// Package vmtest runs a package's Go tests in a virtual machine. A test on the
// host calls [Run]; the tests that it names run in the guest, where [Inside] is
// true.
package vmtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"aqmlab/e2e/vm"
	"aqmlab/e2e/vm/guest"
)

// Spec names tests and what they need. All of it runs in virtual time.
type Spec struct {
	Package string        // import path of the package whose tests run
	Tests   string        // which of them, a pattern for go test -run
	Modules []string      // kernel modules
	Limit   time.Duration // how long all of it may take on the host
}

// Inside tells whether this program runs in a guest.
func Inside() bool { return os.Getenv(guest.Variable) != "" }

// NeedsGuest skips a test on the host, where [Run] stands for it.
func NeedsGuest(t *testing.T) {
	t.Helper()
	if !Inside() {
		t.Skip("runs in a virtual machine")
	}
}

// Run runs tests in a guest, logs their output, and fails when they do. It skips
// where there is no virtual machine, saying what to install, and in a guest.
func Run(t *testing.T, s Spec) {
	t.Helper()
	if Inside() {
		t.Skip("is in a virtual machine already")
	}
	if _, err := vm.Find(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), s.Limit)
	defer cancel()
	dir := t.TempDir()
	program := filepath.Join(dir, "tests")
	Go(t, "test", "-c", "-o", program, s.Package)
	r, err := vm.Run(ctx, vm.Guest{
		Init:        Init(t),
		Program:     program,
		Args:        []string{"-test.v", "-test.run", s.Tests},
		Modules:     s.Modules,
		VirtualTime: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("in the guest:\n%s", r.Output)
	if !bytes.Contains(r.Output, []byte("--- PASS: ")) {
		t.Error("no test passed in the guest")
	}
	if r.Status != 0 {
		t.Errorf("the tests in the guest ended with status %d", r.Status)
	}
}

// Init builds the guest's init and returns its path.
func Init(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "init")
	Go(t, "build", "-o", path, "aqmlab/e2e/vm/guest/init")
	return path
}

// Go runs the go command for a program that needs no libraries.
func Go(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, out)
	}
}
