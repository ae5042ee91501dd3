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

// TestList: packets leave in the order in which they came, and the ends of the
// list are what they are at any time.
func TestList(t *testing.T) {
	var l List
	if l.Head() != nil || l.Tail() != nil || l.Pop() != nil {
		t.Error("an empty list holds a packet")
	}
	packets := make([]Packet, 3)
	for range 2 {
		for i := range packets {
			l.Push(&packets[i])
			if l.Head() != &packets[0] || l.Tail() != &packets[i] {
				t.Errorf("after %d packets, head or tail is another one", i+1)
			}
		}
		for i := range packets {
			if k := l.Pop(); k != &packets[i] || k.Next != nil {
				t.Errorf("packet %d left out of order, or is still linked", i)
			}
		}
		if l.Head() != nil || l.Tail() != nil {
			t.Error("the list does not end empty")
		}
	}
}
