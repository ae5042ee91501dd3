package packet

import (
	"testing"
	"unsafe"
)

// TestCacheLines: a packet is whole cache lines of 64 bytes, and what a switch
// reads of it is the first one.
func TestCacheLines(t *testing.T) {
	const line = 64
	var p Packet
	if n := unsafe.Sizeof(p); n%line != 0 {
		t.Errorf("a packet is %d bytes", n)
	}
	if at := unsafe.Offsetof(p.Segment); at != line {
		t.Errorf("what a switch reads ends at byte %d", at)
	}
	var pool Pool
	if at := uintptr(unsafe.Pointer(pool.Get())) % line; at != 0 {
		t.Errorf("packets begin %d bytes into a cache line", at)
	}
}
