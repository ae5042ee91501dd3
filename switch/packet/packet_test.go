package packet

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
	"testing"
)

// checksum computes an IPv4 header checksum from scratch (RFC 791).
func checksum(h []byte) uint16 {
	var s uint32
	for i := 0; i < len(h); i += 2 {
		if i == 10 {
			continue
		}
		s += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}

// ipv4 builds an Ethernet frame with an IPv4 header, TCP ports and payload.
func ipv4(tos byte, total int, src, dst string, tags ...uint16) []byte {
	f := make([]byte, 12)
	for _, tag := range tags {
		f = binary.BigEndian.AppendUint16(f, 0x8100)
		f = binary.BigEndian.AppendUint16(f, tag)
	}
	f = binary.BigEndian.AppendUint16(f, 0x0800)
	h := make([]byte, total)
	h[0], h[1], h[8], h[9] = 0x45, tos, 64, 6
	binary.BigEndian.PutUint16(h[2:], uint16(total))
	binary.BigEndian.PutUint16(h[4:], 0x1234)
	copy(h[12:], netip.MustParseAddr(src).AsSlice())
	copy(h[16:], netip.MustParseAddr(dst).AsSlice())
	binary.BigEndian.PutUint16(h[10:], checksum(h[:20]))
	if total >= 24 {
		binary.BigEndian.PutUint16(h[20:], 40000)
		binary.BigEndian.PutUint16(h[22:], 5001)
	}
	return append(f, h...)
}

func TestParse(t *testing.T) {
	tests := []struct {
		name  string
		frame []byte
		size  int32
		dscp  uint8
		ecn   ECN
	}{
		{"plain", ipv4(0, 1500, "10.0.0.1", "10.0.0.2"), 1500, 0, NotECT},
		{"DSCP 3, ECT(0)", ipv4(3<<2|0b10, 52, "10.0.0.1", "10.0.0.2"), 52, 3, ECT0},
		{"DSCP 63, CE", ipv4(0xff, 40, "10.0.0.1", "10.0.0.2"), 40, 63, CE},
		{"padded to the Ethernet minimum", append(ipv4(0, 40, "10.0.0.1", "10.0.0.2"), make([]byte, 6)...), 40, 0, NotECT},
		{"one VLAN tag", ipv4(0b01, 100, "10.0.0.1", "10.0.0.2", 7), 100, 0, ECT1},
		{"two VLAN tags", ipv4(0b01, 100, "10.0.0.1", "10.0.0.2", 7, 8), 100, 0, ECT1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Packet{Frame: tt.frame}
			a, err := p.Parse()
			if err != nil {
				t.Fatal(err)
			}
			if a.Src != netip.MustParseAddr("10.0.0.1") || a.Dst != netip.MustParseAddr("10.0.0.2") {
				t.Errorf("addresses %v", a)
			}
			if p.Size != tt.size || p.DSCP != tt.dscp || p.ECN != tt.ecn {
				t.Errorf("size %d, DSCP %d, ECN %02b: want %d, %d, %02b", p.Size, p.DSCP, p.ECN, tt.size, tt.dscp, tt.ecn)
			}
		})
	}
}

// ipv6Frame is a TCP segment from 2001:db8::1 to 2001:db8::2 with traffic
// class 0x22 (DSCP 8, ECT(0)) and 4 bytes of payload (the ports).
func ipv6Frame(t testing.TB) []byte {
	f, err := hex.DecodeString("020000000002020000000001" + "86dd" + "62200000" + "0004" + "0640" +
		"20010db8000000000000000000000001" + "20010db8000000000000000000000002" + "9c401389")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParseIPv6(t *testing.T) {
	p := Packet{Frame: ipv6Frame(t)}
	a, err := p.Parse()
	if err != nil {
		t.Fatal(err)
	}
	if a.Src != netip.MustParseAddr("2001:db8::1") || a.Dst != netip.MustParseAddr("2001:db8::2") || p.Size != 44 || p.DSCP != 8 || p.ECN != ECT0 {
		t.Errorf("got %v, size %d, DSCP %d, ECN %02b", a, p.Size, p.DSCP, p.ECN)
	}
	p.Mark()
	q := Packet{Frame: p.Frame}
	if _, err := q.Parse(); err != nil || q.ECN != CE || q.DSCP != 8 {
		t.Errorf("after the mark: ECN %02b, DSCP %d, %v", q.ECN, q.DSCP, err)
	}
}

func TestParseRefuses(t *testing.T) {
	alter := func(at int, v byte) []byte {
		f := ipv4(0, 60, "10.0.0.1", "10.0.0.2")
		f[at] = v
		return f
	}
	tests := []struct {
		name  string
		frame []byte
		want  error
	}{
		{"empty", nil, ErrMalformed},
		{"ARP", append(make([]byte, 12), 0x08, 0x06, 0, 1), ErrNotIP},
		{"three VLAN tags", ipv4(0, 60, "10.0.0.1", "10.0.0.2", 1, 2, 3), ErrNotIP},
		{"cut inside the VLAN tag", append(make([]byte, 12), 0x81, 0x00, 0), ErrMalformed},
		{"cut inside the header", ipv4(0, 60, "10.0.0.1", "10.0.0.2")[:30], ErrMalformed},
		{"longer than the frame", alter(14+2, 0xff), ErrMalformed},
		{"header length below 20", alter(14, 0x44), ErrMalformed},
		{"header longer than the packet", alter(14+3, 16), ErrMalformed},
		{"version 6 in an IPv4 frame", alter(14, 0x65), ErrMalformed},
		{"wrong checksum", alter(14+8, 63), ErrChecksum},
		{"short IPv6", ipv6Frame(t)[:50], ErrMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Packet{Frame: tt.frame}
			if _, err := p.Parse(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// TestMarkKeepsChecksum marks headers with every TOS byte and many
// identifications, and compares the corrected checksum with one computed
// afresh.
func TestMarkKeepsChecksum(t *testing.T) {
	for tos := range 256 {
		for id := 0; id < 1<<16; id += 251 {
			f := ipv4(byte(tos), 40, "10.0.0.1", "10.0.0.2")
			h := f[EthernetSize:]
			binary.BigEndian.PutUint16(h[4:], uint16(id))
			binary.BigEndian.PutUint16(h[10:], checksum(h[:20]))
			p := Packet{Frame: f}
			if _, err := p.Parse(); err != nil {
				t.Fatal(err)
			}
			p.Mark()
			if p.ECN != CE || h[1] != byte(tos)|0b11 {
				t.Fatalf("TOS %#02x became %#02x", tos, h[1])
			}
			if got, want := binary.BigEndian.Uint16(h[10:]), checksum(h[:20]); got != want {
				t.Fatalf("TOS %#02x, id %#04x: checksum %#04x, want %#04x", tos, id, got, want)
			}
		}
	}
}

func TestMarkVLAN(t *testing.T) {
	p := Packet{Frame: ipv4(0b10, 60, "10.0.0.1", "10.0.0.2", 5)}
	if _, err := p.Parse(); err != nil {
		t.Fatal(err)
	}
	p.Mark()
	q := Packet{Frame: p.Frame}
	if _, err := q.Parse(); err != nil || q.ECN != CE {
		t.Errorf("ECN %02b, %v", q.ECN, err)
	}
}

func TestHashTellsFlowsApart(t *testing.T) {
	hash := func(change func(f []byte)) uint32 {
		f := ipv4(0, 60, "10.0.0.1", "10.0.0.2")
		change(f)
		binary.BigEndian.PutUint16(f[24:], checksum(f[14:34]))
		p := Packet{Frame: f}
		if _, err := p.Parse(); err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	base := hash(func([]byte) {})
	if hash(func(f []byte) { f[15] = 0x0b; f[18] = 9 }) != base {
		t.Error("DSCP, ECN or identification changes the path of a flow")
	}
	for name, at := range map[string]int{"source address": 29, "destination address": 33, "source port": 35, "destination port": 37, "protocol": 23} {
		if hash(func(f []byte) { f[at]++ }) == base {
			t.Errorf("another %s gives the same hash", name)
		}
	}
	first, second := hash(func(f []byte) { f[20] = 0x20 }), hash(func(f []byte) { f[20] = 0x20; f[35]++ })
	if first != second {
		t.Error("fragments are hashed by ports, which only the first one has")
	}
}

func TestQueueAndPool(t *testing.T) {
	pool := NewPool(64)
	var q Queue
	for i := range 3 {
		k := pool.Get()
		k.Size = int32(100 * (i + 1))
		q.Push(k)
	}
	if q.Len() != 3 || q.Bytes() != 600 || pool.Taken() != 3 {
		t.Errorf("%d packets, %d bytes, %d taken", q.Len(), q.Bytes(), pool.Taken())
	}
	for want := int32(100); want <= 300; want += 100 {
		k := q.Pop()
		if k.Size != want {
			t.Errorf("popped %d, want %d", k.Size, want)
		}
		k.Frame = append(k.Frame, 1, 2, 3)
		pool.Put(k)
	}
	if q.Pop() != nil || q.Head() != nil || q.Bytes() != 0 || pool.Taken() != 0 {
		t.Error("an emptied queue or pool is not empty")
	}
	if k := pool.Get(); len(k.Frame) != 0 || cap(k.Frame) < 64 {
		t.Errorf("frame buffer of length %d, capacity %d", len(k.Frame), cap(k.Frame))
	}
}

func FuzzParse(f *testing.F) {
	f.Add(ipv4(0b10, 60, "10.0.0.1", "10.0.0.2"))
	f.Add(ipv4(0b10, 60, "10.0.0.1", "10.0.0.2", 1, 2))
	f.Add(ipv6Frame(f))
	f.Add(overIPv4(tcp(0x10, 12, 0), 4))
	f.Add(overIPv6(f, tcp(0x10, 0, 0)))
	f.Fuzz(func(t *testing.T, frame []byte) {
		p := Packet{Frame: frame}
		before, err := p.Parse()
		if err != nil {
			return
		}
		if int(p.Size) > len(frame) || p.Size < 20 {
			t.Fatalf("size %d of a frame of %d bytes", p.Size, len(frame))
		}
		dscp, size, pure := p.DSCP, p.Size, p.PureACK
		p.Mark()
		if pure {
			p.SetECE()
		}
		after, err := p.Parse()
		if err != nil || after != before || p.ECN != CE || p.DSCP != dscp || p.Size != size || p.PureACK != pure || pure && !p.ECE {
			t.Fatalf("a mark changed the packet: %v", err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	p := Packet{Frame: ipv4(0b10, 1500, "10.0.0.1", "10.0.0.2")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Parse(); err != nil {
			b.Fatal(err)
		}
	}
}
