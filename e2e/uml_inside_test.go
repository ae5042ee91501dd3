//go:build linux

package e2e

import (
	"debug/elf"
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

// TestGuestDoors: a call that was trapped becomes a jump, so that it costs no signal any more.
// What the first process runs differs by that from its program, and by nothing else.
func TestGuestDoors(t *testing.T) {
	g := needGuest(t)
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !strings.Contains(string(info), " fsgsbase") || !strings.Contains(string(info), " xsaveopt") {
		t.Skipf("this processor cannot have it: %v", err)
	}
	c := g.command(t, "run", labFile(t, small), "--runtime", "uml", "--schemes", "tcn", "--flows", "30", "--out", t.TempDir())
	start(t, c)
	text, begins := textOf(t, c.Path)
	waitFor(t, func() bool {
		for _, pid := range g.kernels() {
			if holdsProgram(pid) && opensDoors(t, pid, text, begins) {
				return true
			}
		}
		return false
	})
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// textOf is the code of a program, and where it begins in memory.
func textOf(t *testing.T, program string) (text []byte, begins int64) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	section := f.Section(".text")
	if text, err = section.Data(); err != nil {
		t.Fatal(err)
	}
	return text, int64(section.Addr)
}

// opensDoors tells whether calls in the code of a process have become short jumps. All else
// that is not as it was must be a long jump in a gap, which the linker fills with 0xcc.
func opensDoors(t *testing.T, pid int, text []byte, begins int64) bool {
	t.Helper()
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return false // it has ended
	}
	defer mem.Close()
	const call, page = "\x0f\x05", 4096
	found, now := false, make([]byte, page)
	for at := 0; at+page <= len(text); at += page - 8 { // the next one begins in this one
		if _, err := mem.ReadAt(now, begins+int64(at)); err != nil {
			continue // it was never touched
		}
		was := text[at : at+page]
		for i := 0; i < page-8; {
			switch {
			case now[i] == was[i]:
				i++
			case string(was[i:i+2]) == call && now[i] == 0xeb:
				found = true
				i += 2
			case string(was[i:i+5]) == strings.Repeat("\xcc", 5) && now[i] == 0xe9:
				i += 5
			default:
				t.Errorf("at %x: % x, was % x", begins+int64(at+i), now[i:i+8], was[i:i+8])
				return true
			}
		}
	}
	return found
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
