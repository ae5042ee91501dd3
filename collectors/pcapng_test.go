package collectors

import (
	"encoding/binary"
	"testing"
	"time"
)

// readPacket is one packet of a file.
type readPacket struct {
	Iface   string // name of the interface
	At      time.Duration
	Inbound bool
	Queue   int // -1: not given
	Comment string
	Length  int    // on the wire
	Data    []byte // what was captured of it
}

// readFile is what a file holds.
type readFile struct {
	Packets []readPacket
	Ifaces  []string
	Seen    []uint64 // packets of each interface
	LeftOut []uint64 // those of them that are not in the file

	section int // number of the first interface of the section
}

var le = binary.LittleEndian

// readPcapng reads a file whose times are in nanoseconds, whatever sections it has. It
// is written from the format's specification (draft-ietf-opsawg-pcapng), not from what
// writes ours, and fails the test on whatever does not keep to it.
func readPcapng(t testing.TB, file []byte) readFile {
	t.Helper()
	var f readFile
	for at, first := 0, true; at < len(file); first = false {
		b := file[at:]
		if len(b) < 12 || le.Uint32(b[4:])%4 != 0 || le.Uint32(b[4:]) < 12 || int(le.Uint32(b[4:])) > len(b) {
			t.Fatalf("the block at byte %d has no length of its own", at)
		}
		length := le.Uint32(b[4:])
		if last := le.Uint32(b[length-4:]); last != length {
			t.Fatalf("the block at byte %d is %d bytes long at its beginning and %d at its end", at, length, last)
		}
		kind := le.Uint32(b)
		if first && kind != 0x0a0d0d0a {
			t.Fatalf("the block at byte %d is of type %#x", at, kind)
		}
		f.block(t, kind, b[8:length-4])
		at += int(length)
	}
	return f
}

func (f *readFile) block(t testing.TB, kind uint32, body []byte) {
	t.Helper()
	switch kind {
	case 0x0a0d0d0a: // section header
		if le.Uint32(body) != 0x1a2b3c4d || le.Uint16(body[4:]) != 1 || le.Uint16(body[6:]) != 0 {
			t.Fatalf("no section header of version 1.0: % x", body[:8])
		}
		options(t, body[16:])
		f.section = len(f.Ifaces)
	case 1: // interface description
		o := options(t, body[8:])
		if link := le.Uint16(body); link != 1 || len(o[9]) != 1 || o[9][0] != 9 {
			t.Fatalf("link type %d, time resolution % x: want Ethernet in nanoseconds", link, o[9])
		}
		f.Ifaces, f.Seen, f.LeftOut = append(f.Ifaces, string(o[2])), append(f.Seen, 0), append(f.LeftOut, 0)
	case 5: // interface statistics
		o, i := options(t, body[12:]), f.section+int(le.Uint32(body))
		f.Seen[i], f.LeftOut[i] = le.Uint64(o[4]), le.Uint64(o[7])
	case 6:
		f.packet(t, body)
	default:
		t.Fatalf("a block of type %d", kind)
	}
}

func (f *readFile) packet(t testing.TB, body []byte) {
	t.Helper()
	captured := le.Uint32(body[12:])
	p := readPacket{
		Iface:  f.Ifaces[f.section+int(le.Uint32(body))],
		At:     time.Duration(uint64(le.Uint32(body[4:]))<<32 | uint64(le.Uint32(body[8:]))),
		Length: int(le.Uint32(body[16:])),
		Data:   body[20 : 20+captured],
		Queue:  -1,
	}
	if int(captured) > p.Length {
		t.Errorf("%d bytes of a packet of %d were captured", captured, p.Length)
	}
	o := options(t, body[20+(captured+3)/4*4:])
	p.Comment = string(o[1])
	if flags, ok := o[2]; ok {
		p.Inbound = le.Uint32(flags)&3 == 1
	}
	if queue, ok := o[6]; ok {
		p.Queue = int(le.Uint32(queue))
	}
	f.Packets = append(f.Packets, p)
}

// options reads the options of a block by their codes. They end with one of code
// and length zero.
func options(t testing.TB, b []byte) map[uint16][]byte {
	t.Helper()
	all := make(map[uint16][]byte)
	for len(b) > 0 {
		code, length := le.Uint16(b), int(le.Uint16(b[2:]))
		if code == 0 {
			if length != 0 || len(b) != 4 {
				t.Fatalf("options end with % x", b)
			}
			return all
		}
		all[code] = b[4 : 4+length]
		b = b[4+(length+3)/4*4:]
	}
	if len(all) > 0 {
		t.Fatal("options without an end")
	}
	return all
}
