package packet

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

var modelled = Addrs{Src: netip.MustParseAddr("10.77.0.3"), Dst: netip.MustParseAddr("10.77.0.1")}

// segment is a modelled data segment with all that one may have.
func segment() *Packet {
	p := &Packet{Size: 20 + 32 + 20 + 1000, Src: 2, Dst: 0, DSCP: 5, ECN: CE, ECE: true}
	p.Segment = Segment{Conn: 70_000, Len: 1000, Seq: 1<<32 + 99, Ack: 41, Flags: ACK | PSH | CWR, Stamp: 3 * time.Millisecond, Echo: 2 * time.Millisecond, Blocks: 2}
	p.Segment.SACK = [3]Block{{100, 200}, {300, 400}}
	return p
}

// What is written is read back by the parser of real frames, which checks the
// IPv4 checksum; that of TCP comes out right over the payload of zeros.
func TestModelledTCPIsARealSegment(t *testing.T) {
	p := segment()
	head := AppendTCP(nil, p, modelled)
	if got, want := len(head), EthernetSize+int(p.Size)-1000; got != want {
		t.Fatalf("%d bytes of headers, want %d", got, want)
	}
	back := Packet{Frame: append(head, make([]byte, 1000)...)}
	addrs, err := back.Parse()
	if err != nil || addrs != modelled {
		t.Fatalf("addresses %v, %v", addrs, err)
	}
	if back.Size != p.Size || back.DSCP != 5 || back.ECN != CE || back.PureACK || !back.ECE {
		t.Errorf("read %+v", back)
	}
	l4 := head[EthernetSize+20:]
	if seq, ack := binary.BigEndian.Uint32(l4[4:]), binary.BigEndian.Uint32(l4[8:]); seq != 100 || ack != 42 {
		t.Errorf("sequence number %d, acknowledged %d: want 100 and 42, from 1 on, modulo 2^32", seq, ack)
	}
	if flags := l4[13]; flags != 0x80|0x40|0x10|0x08 {
		t.Errorf("flags %#x, want CWR, ECE, ACK and PSH", flags)
	}
	options := []byte{1, 1, 8, 10, 0, 0, 0x0b, 0xb8, 0, 0, 0x07, 0xd0, 1, 1, 5, 18, 0, 0, 0, 101, 0, 0, 0, 201, 0, 0, 1, 45, 0, 0, 1, 145}
	if string(l4[20:]) != string(options) {
		t.Errorf("options % x, want % x", l4[20:], options)
	}
	if sum := pseudo(head[EthernetSize:], 6, len(l4)+1000).add(l4).fold(); sum != 0 {
		t.Errorf("the TCP checksum is off by %#x", sum)
	}
}

// A SYN has number 0, and a pure ACK is seen as one.
func TestModelledSYNAndACK(t *testing.T) {
	p := segment()
	p.Size, p.ECE = 52, false
	p.Segment.Len, p.Segment.Blocks, p.Segment.Seq, p.Segment.Flags = 0, 0, 0, SYN
	syn := AppendTCP(nil, p, modelled)
	if l4 := syn[EthernetSize+20:]; binary.BigEndian.Uint64(l4[4:]) != 0 || l4[13] != 2 {
		t.Errorf("SYN % x: want sequence numbers 0", l4)
	}
	p.Segment.Flags = ACK
	back := Packet{Frame: AppendTCP(nil, p, modelled)}
	if _, err := back.Parse(); err != nil || !back.PureACK {
		t.Errorf("a pure ACK is read as %+v, %v", back, err)
	}
}

// Both directions of a connection have the same ports, and no two connections
// between the same hosts do.
func TestModelledPortsTellConnections(t *testing.T) {
	seen := map[[2]uint16]int32{}
	r := rand.New(rand.NewPCG(1, 1))
	conns := []int32{0, 1, portsUsed - 1, portsUsed, 1<<31 - 1}
	for range 10_000 {
		conns = append(conns, r.Int32())
	}
	for _, conn := range conns {
		a, b := ports(conn, 3, 7)
		if b2, a2 := ports(conn, 7, 3); a2 != a || b2 != b || a < firstPort || b < firstPort {
			t.Fatalf("connection %d has ports %d and %d, and back %d and %d", conn, a, b, b2, a2)
		}
		if other, taken := seen[[2]uint16{a, b}]; taken && other != conn {
			t.Fatalf("connections %d and %d have the same ports", conn, other)
		}
		seen[[2]uint16{a, b}] = conn
	}
}

// RoCEv2 is UDP to port 4791, with the base transport header behind it.
func TestModelledRoCE(t *testing.T) {
	const udp, bth = EthernetSize + 20, EthernetSize + 28
	tests := map[string]struct {
		s      Segment
		size   int32
		opcode byte
		psn    uint32 // with the bit that asks for an acknowledgement
		length int    // of what is encoded behind the BTH
	}{
		"data":         {Segment{Len: 1000, Seq: 1<<24 + 5, Flags: REQ}, 1044, 0x01, 0x80000005, 0},
		"ACK":          {Segment{Ack: 7, Flags: ACK}, 48, 0x11, 7, 4},
		"NAK":          {Segment{Ack: 7, Flags: ACK | NAK}, 48, 0x11, 7, 4},
		"notification": {Segment{Flags: CNP}, 60, 0x81, 0, 16},
	}
	for name, tt := range tests {
		tt.s.Conn = 9
		p := &Packet{Size: tt.size, Segment: tt.s, Dst: 1}
		f := AppendRoCE(nil, p, modelled)
		if n := len(f) - bth - 12; n != tt.length {
			t.Fatalf("%s: %d bytes behind the BTH, want %d", name, n, tt.length)
		}
		if port, length := binary.BigEndian.Uint16(f[udp+2:]), binary.BigEndian.Uint16(f[udp+4:]); port != 4791 || int32(length) != tt.size-20 {
			t.Errorf("%s: UDP port %d, length %d", name, port, length)
		}
		if f[bth] != tt.opcode || binary.BigEndian.Uint32(f[bth+4:]) != 9 || binary.BigEndian.Uint32(f[bth+8:]) != tt.psn {
			t.Errorf("%s: base transport header % x", name, f[bth:bth+12])
		}
		if nak := tt.length == 4 && f[bth+12] == 0x60; nak != (name == "NAK") {
			t.Errorf("%s: extended header % x", name, f[bth+12:])
		}
	}
}

// Encoding allocates nothing where there is room.
func TestModelledHeadersAllocateNothing(t *testing.T) {
	p, room := segment(), make([]byte, 0, 256)
	for name, encode := range map[string]Encode{"TCP": AppendTCP, "RoCE": AppendRoCE} {
		if n := testing.AllocsPerRun(100, func() { encode(room, p, modelled) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// Accurate ECN has the low bits of its counter in the flags AE, CWR and ECE (RFC 9768,
// section 3.2.2).
func TestModelledACE(t *testing.T) {
	for ace, want := range map[uint16][2]byte{
		0:                  {0x80, 0x10}, // of an end that does not count
		ACECounts:          {0x80, 0x10},
		ACECounts | 5:      {0x81, 0x50},
		ACECounts | 8 + 2:  {0x80, 0x90},
		ACECounts | 80 + 7: {0x81, 0xd0},
	} {
		p := segment()
		p.ECE, p.Segment.Flags, p.Segment.Blocks, p.Segment.ACE = false, ACK, 0, ace
		l4 := AppendTCP(nil, p, modelled)[EthernetSize+20:]
		if got := [2]byte{l4[12], l4[13]}; got != want {
			t.Errorf("ACE %#x: % x, want % x", ace, got, want)
		}
	}
}
