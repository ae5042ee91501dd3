//go:build linux && (amd64 || arm64)

package hugepages

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestGrow: the heap has as many addresses as were asked for, for which the kernel is asked
// for huge pages, and holds no more than before. It does not grow twice.
func TestGrow(t *testing.T) {
	var before, after, again runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	want := before.HeapSys + 64<<20
	Grow(int(want))
	runtime.ReadMemStats(&after)
	if after.HeapSys < want || after.HeapInuse > before.HeapInuse+1<<20 {
		t.Errorf("a heap of %d bytes, %d in use, has become %d and %d: want %d, and the same in use", before.HeapSys, before.HeapInuse, after.HeapSys, after.HeapInuse, want)
	}
	Grow(int(want))
	runtime.ReadMemStats(&again)
	if again.HeapSys > after.HeapSys {
		t.Errorf("asked again for as much, it grows from %d to %d bytes", after.HeapSys, again.HeapSys)
	}
	if _, err := os.Stat("/sys/kernel/mm/transparent_hugepage"); err != nil {
		t.Skip("the kernel has no huge pages")
	}
	if got := advised(t); got < 64<<20 {
		t.Errorf("huge pages are asked for %d bytes, want %d", got, 64<<20)
	}
}

// advised is for how many bytes the process has asked for huge pages.
func advised(t *testing.T) (bytes int) {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	kb := 0
	for line := range strings.Lines(string(maps)) {
		switch name, rest, _ := strings.Cut(line, ":"); name {
		case "Size":
			if _, err := fmt.Sscan(rest, &kb); err != nil {
				t.Fatal(err)
			}
		case "VmFlags":
			if strings.Contains(rest, " hg ") {
				bytes += kb << 10
			}
		}
	}
	return bytes
}
