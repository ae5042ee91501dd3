package port

import (
	"testing"
	"unsafe"
)

// TestCacheLines: a port is two cache lines of 64 bytes, and a queue is two, of
// which the first holds its ends and what most arrivals and departures look at.
func TestCacheLines(t *testing.T) {
	const line = 64
	var p Port
	var q queue
	if n := unsafe.Sizeof(p); n > 2*line {
		t.Errorf("a port is %d bytes", n)
	}
	if n := unsafe.Sizeof(q); n%line != 0 {
		t.Errorf("a queue is %d bytes", n)
	}
	for name, end := range map[string]uintptr{
		"longest":  unsafe.Offsetof(q.longest),
		"enqueued": unsafe.Offsetof(q.Count) + unsafe.Offsetof(q.Count.Enqueued),
		"sent":     unsafe.Offsetof(q.Count) + unsafe.Offsetof(q.Count.Sent),
	} {
		if end+8 > line {
			t.Errorf("%s is beyond the first line of a queue", name)
		}
	}
}
