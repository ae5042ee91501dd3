//go:build linux

package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestGuestInside: the first process of a guest runs inside of its kernel's process on the
// host, which then has memory below itself, where programs are.
func TestGuestInside(t *testing.T) {
	g := needGuest(t)
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !strings.Contains(string(info), " fsgsbase") {
		t.Skipf("this processor cannot have it inside: %v", err)
	}
	c := g.command(t, "run", labFile(t, small), "--runtime", "uml", "--schemes", "tcn", "--flows", "30", "--out", t.TempDir())
	start(t, c)
	waitFor(t, func() bool {
		for _, pid := range g.kernels() {
			if holdsProgram(pid) {
				return true
			}
		}
		return false
	})
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// holdsProgram tells whether a process that none traces, as a kernel does its guest's, has
// code below where kernels of guests begin.
func holdsProgram(pid int) bool {
	const kernelBegins = 0x60000000
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if !strings.Contains(string(status), "TracerPid:\t0\n") {
		return false
	}
	maps, _ := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)) // of one that has ended: nothing
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var rights string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n == 3 && to < kernelBegins && strings.Contains(rights, "x") {
			return true
		}
	}
	return false
}
