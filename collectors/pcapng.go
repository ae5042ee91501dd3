package collectors

import (
	"encoding/binary"
	"time"

	"aqmlab/results"
)

// pcapng writes a capture file in memory (IETF draft-ietf-opsawg-pcapng): one
// section, little-endian, of Ethernet interfaces with times in nanoseconds. Each
// chunk holds whole blocks, so that no byte is ever copied again. Unlike the
// writers that there are, it allocates nothing per packet, commented ones
// included.
type pcapng struct {
	chunks [][]byte
	size   int // of all chunks
	begun  int // where the block under way begins in the last chunk
	option bool
}

// Types of blocks and options, and fixed values.
const (
	blockSection    = 0x0a0d0d0a
	blockInterface  = 1
	blockStatistics = 5
	blockPacket     = 6

	byteOrder    = 0x1a2b3c4d
	linkEthernet = 1

	optComment    = 1
	optShbUser    = 4 // program that wrote the section
	optIfName     = 2
	optIfTsresol  = 9
	optPktFlags   = 2
	optPktQueue   = 6
	optIsbIfRecv  = 4
	optIsbOSDrop  = 7
	dirInbound    = 1
	dirOutbound   = 2
	headPacket    = 28 // bytes of a packet block before the packet
	nanosecondRes = 9

	chunkSize = 64 << 10 // small: new memory is slow to touch for the first time
	largest   = 12 << 10 // of a block: a jumbo frame, and its options
)

// section begins the file.
func (w *pcapng) section(program string) {
	w.begin(blockSection)
	w.words(byteOrder, 1, 0xffffffff, 0xffffffff) // version 1.0; length not given
	w.text(optShbUser, program)
	w.end()
}

// iface adds an interface. They are numbered from 0.
func (w *pcapng) iface(name string, snap int) {
	w.begin(blockInterface)
	w.words(linkEthernet, uint32(snap))
	w.text(optIfName, name)
	w.head(optIfTsresol, 1)
	w.append(nanosecondRes, 0, 0, 0)
	w.end()
}

// record is what a packet block says beside the packet.
type record struct {
	iface, direction, queue int
	at                      time.Duration
	length                  int // of the whole packet
	comment                 []byte
}

// packet adds a packet, of which bytes were captured.
func (w *pcapng) packet(r record, bytes []byte) {
	w.begin(blockPacket)
	w.words(uint32(r.iface), uint32(uint64(r.at)>>32), uint32(r.at), uint32(len(bytes)), uint32(r.length))
	w.append(bytes...)
	w.pad()
	w.head(optPktFlags, 4)
	w.words(uint32(r.direction))
	if r.direction == dirOutbound {
		w.head(optPktQueue, 4)
		w.words(uint32(r.queue))
	}
	if len(r.comment) > 0 {
		w.head(optComment, len(r.comment))
		w.append(r.comment...)
		w.pad()
	}
	w.end()
}

// statistics ends what is said of an interface: the packets that it saw, and
// those of them that did not come into the file.
func (w *pcapng) statistics(iface int, at time.Duration, seen, leftOut int64) {
	w.begin(blockStatistics)
	w.words(uint32(iface), uint32(uint64(at)>>32), uint32(at))
	for _, o := range []struct {
		code  int
		value int64
	}{{optIsbIfRecv, seen}, {optIsbOSDrop, leftOut}} {
		w.head(o.code, 8)
		w.words(uint32(o.value), uint32(uint64(o.value)>>32))
	}
	w.end()
}

// begin starts a block, in a new chunk where the last has no room for the largest.
func (w *pcapng) begin(kind uint32) {
	if n := len(w.chunks); n == 0 || cap(w.chunks[n-1])-len(w.chunks[n-1]) < largest {
		w.chunks = append(w.chunks, make([]byte, 0, chunkSize))
	}
	w.begun, w.option = len(*w.last()), false
	w.words(kind, 0) // the length is not known yet
}

// end ends a block: the end of its options, and its length, which also stands at
// its beginning.
func (w *pcapng) end() {
	if w.option {
		w.words(0)
	}
	b := w.last()
	length := uint32(len(*b) - w.begun + 4)
	binary.LittleEndian.PutUint32((*b)[w.begun+4:], length)
	w.words(length)
	w.size += int(length)
}

func (w *pcapng) last() *[]byte { return &w.chunks[len(w.chunks)-1] }

func (w *pcapng) append(bytes ...byte) {
	b := w.last()
	*b = append(*b, bytes...)
}

func (w *pcapng) words(words ...uint32) {
	b := w.last()
	for _, v := range words {
		*b = binary.LittleEndian.AppendUint32(*b, v)
	}
}

// head begins an option.
func (w *pcapng) head(code, length int) {
	w.option = true
	w.words(uint32(length)<<16 | uint32(code))
}

func (w *pcapng) text(code int, s string) {
	w.head(code, len(s))
	w.append([]byte(s)...)
	w.pad()
}

// pad fills up to a multiple of four bytes.
func (w *pcapng) pad() {
	b := w.last()
	for (len(*b)-w.begun)%4 != 0 {
		*b = append(*b, 0)
	}
}

// Shift moves the times of a capture's packets by so much, those that would come
// before zero to zero.
func Shift(capture results.Capture, by time.Duration) {
	for _, c := range capture.Chunks {
		for ; len(c) > 0; c = c[binary.LittleEndian.Uint32(c[4:]):] {
			switch binary.LittleEndian.Uint32(c) {
			case blockPacket, blockStatistics:
				at := time.Duration(uint64(binary.LittleEndian.Uint32(c[12:]))<<32 | uint64(binary.LittleEndian.Uint32(c[16:])))
				at = max(0, at+by)
				binary.LittleEndian.PutUint32(c[12:], uint32(uint64(at)>>32))
				binary.LittleEndian.PutUint32(c[16:], uint32(at))
			}
		}
	}
}
