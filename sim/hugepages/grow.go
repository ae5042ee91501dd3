//go:build linux && (amd64 || arm64)

package hugepages

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// huge is the size of most huge pages, in bytes. Where they are larger, as with base pages
// of 64 KB, the ends of a region have none.
const huge = 2 << 20

// Grow has the heap have so many bytes from the system, if it has fewer, and asks for huge
// pages for what it adds. None of it is used before the program does: until then it is
// addresses without memory behind them.
//
// The kernel is asked for a region of addresses, so the heap must have it before: Grow
// allocates it as a whole, and has it collected at once. What is allocated from then on
// begins to fill it.
func Grow(bytes int) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	lacks := bytes - int(m.HeapSys)
	if lacks < huge {
		return
	}
	advise(make([]byte, lacks+huge))
	runtime.GC()
}

// advise asks for huge pages for the part of a region that whole ones can cover. That the
// kernel refuses changes nothing but the speed.
func advise(region []byte) {
	before := -uintptr(unsafe.Pointer(&region[0])) & (huge - 1)
	if whole := (uintptr(len(region)) - before) &^ (huge - 1); whole > 0 {
		_ = unix.Madvise(region[before:][:whole], unix.MADV_HUGEPAGE)
	}
}
