package packet

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// tcpFlags of the tests, by name (RFC 9293, section 3.1).
const (
	fin, syn, rst, psh, ack, urg, ece, cwr = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80
)

// tcp is a segment with that many bytes of options and of payload, and no
// checksum yet.
func tcp(flags byte, options, payload int) []byte {
	s := make([]byte, 20+options+payload)
	binary.BigEndian.PutUint16(s, 40000)
	binary.BigEndian.PutUint16(s[2:], 5001)
	s[12], s[13] = byte(5+options/4)<<4, flags
	return s
}

// overIPv4 puts a segment behind an IPv4 header with that many bytes of
// options, in an Ethernet frame padded to its least size.
func overIPv4(segment []byte, options int, tags ...uint16) []byte {
	header := 20 + options
	f := ipv4(0b10, header+len(segment), "10.0.0.1", "10.0.0.2", tags...)
	h := f[EthernetSize+4*len(tags):]
	h[0] = 0x40 | byte(header/4)
	clear(h[20:header])
	binary.BigEndian.PutUint16(h[10:], checksum(h[:header]))
	copy(h[header:], segment)
	return append(f, make([]byte, max(0, 60-len(f)))...)
}

// overIPv6 puts a segment behind an IPv6 header.
func overIPv6(t testing.TB, segment []byte) []byte {
	f := append(ipv6Frame(t)[:EthernetSize+40:EthernetSize+40], segment...)
	binary.BigEndian.PutUint16(f[EthernetSize+4:], uint16(len(segment)))
	return f
}

func TestPureACK(t *testing.T) {
	plain := tcp(ack, 0, 0)
	udp := overIPv4(plain, 0)
	udp[EthernetSize+9] = 17
	binary.BigEndian.PutUint16(udp[EthernetSize+10:], checksum(udp[EthernetSize:EthernetSize+20]))
	fragment := func(field uint16) []byte {
		f := overIPv4(plain, 0)
		binary.BigEndian.PutUint16(f[EthernetSize+6:], field)
		binary.BigEndian.PutUint16(f[EthernetSize+10:], checksum(f[EthernetSize:EthernetSize+20]))
		return f
	}
	behindOptions := overIPv6(t, plain)
	behindOptions[EthernetSize+6] = 0 // hop-by-hop options
	long, short := tcp(ack, 0, 0), tcp(ack, 0, 0)
	long[12], short[12] = 6<<4, 4<<4
	tests := []struct {
		name      string
		frame     []byte
		pure, ece bool
	}{
		{"ACK", overIPv4(plain, 0), true, false},
		{"ACK with the echo", overIPv4(tcp(ack|ece, 0, 0), 0), true, true},
		{"ACK with PSH, URG and CWR", overIPv4(tcp(ack|psh|urg|cwr, 12, 0), 0), true, false},
		{"tagged ACK", overIPv4(plain, 0, 7, 8), true, false},
		{"ACK behind IP options", overIPv4(tcp(ack, 40, 0), 40), true, false},
		{"ACK over IPv6", overIPv6(t, tcp(ack, 12, 0)), true, false},
		{"a byte of data", overIPv4(tcp(ack, 12, 1), 0), false, false},
		{"data over IPv6", overIPv6(t, tcp(ack|ece, 0, 1000)), false, true},
		{"SYN and ACK", overIPv4(tcp(syn|ack|ece, 20, 0), 0), false, true},
		{"SYN", overIPv4(tcp(syn, 20, 0), 0), false, false},
		{"FIN and ACK", overIPv4(tcp(fin|ack, 0, 0), 0), false, false},
		{"RST and ACK", overIPv4(tcp(rst|ack, 0, 0), 0), false, false},
		{"no flags", overIPv4(tcp(0, 0, 0), 0), false, false},
		{"UDP", udp, false, false},
		{"first fragment", fragment(0x2000), false, false},
		{"later fragment", fragment(0x0010), false, false},
		{"do not fragment", fragment(0x4000), true, false},
		{"cut header", overIPv4(plain[:19], 0), false, false},
		{"header beyond the segment", overIPv4(long, 0), false, false},
		{"header below its least", overIPv4(short, 0), false, false},
		{"extension header", behindOptions, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := Packet{Frame: tt.frame, PureACK: !tt.pure, ECE: !tt.ece} // what the last user left
			if _, err := p.Parse(); err != nil {
				t.Fatal(err)
			}
			if p.PureACK != tt.pure || p.ECE != tt.ece {
				t.Errorf("pure ACK %v, ECE %v: want %v, %v", p.PureACK, p.ECE, tt.pure, tt.ece)
			}
		})
	}
}

// TestPureACKOfEveryLength: whatever the options are, an ACK ends with them.
func TestPureACKOfEveryLength(t *testing.T) {
	for options := 0; options <= 40; options += 4 {
		for payload := range 3 {
			for name, f := range map[string][]byte{
				"IPv4": overIPv4(tcp(ack, options, payload), 0),
				"IPv6": overIPv6(t, tcp(ack, options, payload)),
			} {
				p := Packet{Frame: f}
				if _, err := p.Parse(); err != nil || p.PureACK != (payload == 0) {
					t.Errorf("%s, %d bytes of options, %d of payload: pure ACK %v, %v", name, options, payload, p.PureACK, err)
				}
			}
		}
	}
}

// tcpChecksumOf computes a TCP checksum from scratch: pseudo header, then the
// segment without its checksum (RFC 9293, section 3.1; RFC 8200, section 8.1).
func tcpChecksumOf(addresses, segment []byte) uint16 {
	s := uint32(6 + len(segment))
	for _, part := range [][]byte{addresses, segment} {
		for i, b := range part {
			if len(part) == len(segment) && &part[0] == &segment[0] && (i == 16 || i == 17) {
				continue
			}
			s += uint32(b) << (8 * (1 - i%2))
		}
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}

// TestSetECEKeepsChecksum sets the echo in segments with every set of flags and
// many acknowledgement numbers, and compares the corrected checksum with one
// computed afresh.
func TestSetECEKeepsChecksum(t *testing.T) {
	frames := map[string]func(segment []byte) (frame, addresses, at []byte){
		"IPv4": func(s []byte) (f, addresses, at []byte) {
			f = overIPv4(s, 0, 3)
			return f, f[18+12 : 18+20], f[18+20:][:len(s)]
		},
		"IPv6": func(s []byte) (f, addresses, at []byte) {
			f = overIPv6(t, s)
			return f, f[14+8 : 14+40], f[14+40:]
		},
	}
	for name, frame := range frames {
		for flags := range 256 {
			for n := 0; n < 1<<16; n += 977 {
				s := tcp(byte(flags), n%11*4, 0)
				binary.BigEndian.PutUint16(s[10:], uint16(n)) // acknowledgement number
				f, addresses, at := frame(s)
				binary.BigEndian.PutUint16(at[16:], tcpChecksumOf(addresses, at))
				p := Packet{Frame: f}
				if _, err := p.Parse(); err != nil {
					t.Fatal(err)
				}
				p.SetECE()
				what := fmt.Sprintf("%s, flags %#02x, number %d", name, flags, n)
				if !p.ECE || at[13] != byte(flags)|ece || at[12] != s[12] {
					t.Fatalf("%s: the flags became %#02x", what, at[13])
				}
				if got, want := binary.BigEndian.Uint16(at[16:]), tcpChecksumOf(addresses, at); got != want {
					t.Fatalf("%s: checksum %#04x, want %#04x", what, got, want)
				}
			}
		}
	}
}

// TestSetECETwice: an echo that is set already is left alone, with the checksum
// that came with it, right or wrong.
func TestSetECETwice(t *testing.T) {
	f := overIPv4(tcp(ack|ece, 0, 0), 0)
	before := string(f)
	p := Packet{Frame: f}
	if _, err := p.Parse(); err != nil {
		t.Fatal(err)
	}
	p.SetECE()
	if string(f) != before {
		t.Error("the frame has changed")
	}
}

func TestSetECEOfAModelledPacket(t *testing.T) {
	p := Packet{PureACK: true}
	p.SetECE()
	if !p.ECE {
		t.Error("no echo")
	}
}

// TestCutWindowKeepsChecksum cuts windows of every size to others, with every window
// scale, and compares the corrected checksum with one computed afresh. The window
// is the smaller one of both, and never closes.
func TestCutWindowKeepsChecksum(t *testing.T) {
	for own := 1; own < 1<<16; own += 771 {
		for _, bytes := range []int{1, 1446, 1448, 15_000, 65_535, 65_536, 1 << 30} {
			for shift := range uint(15) {
				s := tcp(ack, own%11*4, 0)
				binary.BigEndian.PutUint16(s[14:], uint16(own))
				f := overIPv4(s, 0)
				addresses, at := f[14+12:14+20], f[14+20:][:len(s)]
				binary.BigEndian.PutUint16(at[16:], tcpChecksumOf(addresses, at))
				p := Packet{Frame: f}
				if _, err := p.Parse(); err != nil {
					t.Fatal(err)
				}
				cut := p.CutWindow(bytes, shift)
				want := min(own, (bytes+1<<shift-1)>>shift)
				what := fmt.Sprintf("window %d cut to %d bytes, shift %d", own, bytes, shift)
				if got := int(binary.BigEndian.Uint16(at[14:])); got != want || cut != (want < own) || got == 0 {
					t.Fatalf("%s: it is %d, want %d; cut %v", what, got, want, cut)
				}
				if got, want := binary.BigEndian.Uint16(at[16:]), tcpChecksumOf(addresses, at); got != want {
					t.Fatalf("%s: checksum %#04x, want %#04x", what, got, want)
				}
			}
		}
	}
}

// TestCutWindowOfAModelledPacket: a segment that tells no window has room for any.
func TestCutWindowOfAModelledPacket(t *testing.T) {
	for own, want := range map[int32]int32{0: 1500, 1499: 1499, 1500: 1500, 1501: 1500} {
		p := Packet{PureACK: true, Segment: Segment{Window: own}}
		if cut := p.CutWindow(1500, 7); p.Segment.Window != want || cut != (own != want) {
			t.Errorf("window %d became %d, cut %v", own, p.Segment.Window, cut)
		}
	}
}

// TestReplace: a packet takes the place of the one of its flow, or goes to the tail.
func TestReplace(t *testing.T) {
	var q Queue
	for i, tt := range []struct{ flow, size, old int32 }{
		{1, 40, 0}, {2, 40, 0}, {3, 52, 0}, {2, 60, 40}, {3, 44, 52}, {1, 40, 40}, {4, 40, 0}, {4, 41, 40},
	} {
		old := q.Replace(&Packet{Src: 1, Dst: 2, Hash: uint32(tt.flow), Size: tt.size})
		if (old == nil) != (tt.old == 0) || old != nil && (old.Size != tt.old || old.Next != nil) {
			t.Errorf("packet %d replaced %+v, want one of %d bytes", i, old, tt.old)
		}
	}
	q.Replace(&Packet{Src: 2, Dst: 1, Hash: 1, Size: 7}) // the other direction
	if q.Len() != 5 || q.Bytes() != 40+60+44+41+7 {
		t.Errorf("%d packets of %d bytes", q.Len(), q.Bytes())
	}
	for _, want := range []int32{40, 60, 44, 41, 7} {
		if p := q.Pop(); p.Size != want {
			t.Errorf("popped one of %d bytes, want %d", p.Size, want)
		}
	}
}
