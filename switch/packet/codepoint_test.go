package packet

import (
	"encoding/binary"
	"testing"
)

// TestCodepoint: a transport's own codepoint gives way, and a mark never does. Packets that
// are not ECN-capable get one only with payload, and only if all are to.
func TestCodepoint(t *testing.T) {
	for _, c := range []struct {
		code    Codepoint
		own     ECN
		payload bool
		want    ECN
	}{
		{Codepoint{}, ECT0, true, ECT0},
		{Codepoint{ECN: ECT1, All: true}, NotECT, true, NotECT},
		{Codepoint{Set: true, ECN: ECT1}, ECT0, true, ECT1},
		{Codepoint{Set: true, ECN: ECT1}, ECT0, false, ECT1},
		{Codepoint{Set: true, ECN: ECT1}, NotECT, true, NotECT},
		{Codepoint{Set: true, ECN: ECT1}, CE, true, CE},
		{Codepoint{Set: true, ECN: NotECT}, ECT0, true, NotECT},
		{Codepoint{Set: true, ECN: ECT0, All: true}, NotECT, true, ECT0},
		{Codepoint{Set: true, ECN: ECT0, All: true}, NotECT, false, NotECT},
	} {
		if got := c.code.Of(c.own, c.payload); got != c.want {
			t.Errorf("%+v of %v, payload %v: %v, want %v", c.code, c.own, c.payload, got, c.want)
		}
	}
}

// TestSetECN: every codepoint can follow every other in a frame, and the checksum is that
// of the header (RFC 791); nothing else changes.
func TestSetECN(t *testing.T) {
	for from := range CE + 1 {
		for to := range CE + 1 {
			p := Packet{Frame: ipv4(7<<2|byte(from), 60, "10.0.0.1", "10.0.0.2", 7)}
			if _, err := p.Parse(); err != nil {
				t.Fatal(err)
			}
			p.SetECN(to)
			h := p.Frame[EthernetSize+vlanSize:]
			if p.ECN != to || h[1] != 7<<2|byte(to) || binary.BigEndian.Uint16(h[10:]) != checksum(h[:20]) {
				t.Errorf("from %v to %v: %v, % x", from, to, p.ECN, h[:20])
			}
			again := Packet{Frame: p.Frame}
			if _, err := again.Parse(); err != nil || again.ECN != to || again.DSCP != 7 {
				t.Errorf("from %v to %v: parsed %v, %d, %v", from, to, again.ECN, again.DSCP, err)
			}
		}
	}
	modelled := Packet{ECN: ECT0}
	if modelled.SetECN(ECT1); modelled.ECN != ECT1 {
		t.Errorf("a modelled packet has %v", modelled.ECN)
	}
}

// TestHasPayload: of a frame only the length of the TCP header tells.
func TestHasPayload(t *testing.T) {
	for payload, want := range map[int]bool{0: false, 1: true, 1000: true} {
		f := ipv4(0, 40+12+payload, "10.0.0.1", "10.0.0.2")
		f[EthernetSize+20+tcpOffsetFlags] = 8 << 4 // 32 bytes, with options
		p := Packet{Frame: f}
		if _, err := p.Parse(); err != nil || p.HasPayload() != want {
			t.Errorf("%d bytes: %v, %v", payload, p.HasPayload(), err)
		}
	}
	const icmp = 1
	for i, tt := range []struct {
		proto byte
		size  int
		want  bool
	}{{protoUDP, 28, false}, {protoUDP, 29, true}, {protoUDP, 1500, true}, {icmp, 100, false}} {
		f := ipv4(0, tt.size, "10.0.0.1", "10.0.0.2")
		f[EthernetSize+9] = tt.proto
		binary.BigEndian.PutUint16(f[EthernetSize+10:], checksum(f[EthernetSize:EthernetSize+20]))
		p := Packet{Frame: f, l4: 34} // of its last user
		if _, err := p.Parse(); err != nil || p.HasPayload() != tt.want {
			t.Errorf("packet %d: %v, %v", i, p.HasPayload(), err)
		}
	}
	if m := (&Packet{Segment: Segment{Len: 1}}); !m.HasPayload() || new(Packet).HasPayload() {
		t.Error("a modelled packet has the payload of its segment")
	}
}
