package packet

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"
)

// sum is the Internet checksum of all words (RFC 1071): 0 where the one in them is right.
func sum(b []byte) uint16 {
	var s uint32
	for i := 0; i+1 < len(b); i += 2 {
		s += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	if len(b)%2 != 0 {
		s += uint32(b[len(b)-1]) << 8
	}
	for s>>16 != 0 {
		s = s&0xffff + s>>16
	}
	return ^uint16(s)
}

// TestModelledTCPChecksum works the checksum out from scratch: over the addresses, zero, the
// protocol, the length, and the segment (RFC 9293, section 3.1).
func TestModelledTCPChecksum(t *testing.T) {
	p := segment()
	head := AppendTCP(nil, p, modelled)
	length := int(p.Size) - ipv4MinSize
	pseudo := slices.Concat(head[EthernetSize+12:EthernetSize+20], []byte{0, 6, byte(length >> 8), byte(length)})
	if got := sum(slices.Concat(pseudo, head[EthernetSize+20:], make([]byte, 1000))); got != 0 {
		t.Errorf("the checksum is off by %#x", got)
	}
}

// TestHashTellsIPv6FlowsApart: every part of the addresses and the ports of a flow count, its
// traffic class does not.
func TestHashTellsIPv6FlowsApart(t *testing.T) {
	hash := func(at int) uint32 {
		p := Packet{Frame: ipv6Frame(t)}
		if at > 0 {
			p.Frame[at]++
		}
		if _, err := p.Parse(); err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	base := hash(0)
	if hash(15) != base {
		t.Error("the traffic class changes the path of a flow")
	}
	for name, at := range map[string]int{
		"protocol": 20, "prefix of the source": 22 + 3, "source": 22 + 15, "prefix of the destination": 38 + 3, "destination": 38 + 15,
		"source port": 54 + 1, "destination port": 54 + 3,
	} {
		if hash(at) == base {
			t.Errorf("another %s gives the same hash", name)
		}
	}
}

// TestHashWithoutPorts: a protocol without ports, and a segment too short for them, are hashed
// by the addresses alone.
func TestHashWithoutPorts(t *testing.T) {
	hash := func(protocol, last byte, total int) uint32 {
		f := ipv4(0, total, "10.0.0.1", "10.0.0.2")
		f[23], f[len(f)-1] = protocol, last
		binary.BigEndian.PutUint16(f[24:], checksum(f[14:34]))
		p := Packet{Frame: f}
		if _, err := p.Parse(); err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	const icmp, tcp, udp = 1, 6, 17
	for name, tt := range map[string]struct {
		protocol byte
		total    int
		counts   bool
	}{
		"ICMP":             {icmp, 24, false},
		"TCP":              {tcp, 24, true},
		"UDP":              {udp, 24, true},
		"3 bytes of TCP":   {tcp, 23, false},
		"1 byte of UDP":    {udp, 21, false},
		"nothing of it":    {tcp, 20, false},
		"ICMP, longer":     {icmp, 60, false},
		"UDP, behind them": {udp, 60, false},
	} {
		if tt.total == 20 {
			hash(tt.protocol, 2, 20) // nothing to compare it with
			continue
		}
		if differs := hash(tt.protocol, 1, tt.total) != hash(tt.protocol, 2, tt.total); differs != tt.counts {
			t.Errorf("%s: another last byte gives another hash: %v", name, differs)
		}
	}
}

// TestLeastFrames: a frame that has just what its headers need is read, and one with a byte
// less is malformed.
func TestLeastFrames(t *testing.T) {
	six := ipv6Frame(t)[:54]
	six[19] = 0 // no payload
	for name, tt := range map[string]struct {
		frame []byte
		least error // of the whole frame
	}{
		"Ethernet alone":   {append(make([]byte, 12), 0x08, 0x06), ErrNotIP},
		"Ethernet, tagged": {append(make([]byte, 12), 0x81, 0x00, 0, 1, 0x08, 0x06), ErrNotIP},
		"IPv4":             {ipv4(0, 20, "10.0.0.1", "10.0.0.2"), nil},
		"IPv6":             {six, nil},
	} {
		p := Packet{Frame: tt.frame}
		if _, err := p.Parse(); !errors.Is(err, tt.least) {
			t.Errorf("%s: %v, want %v", name, err, tt.least)
		}
		p = Packet{Frame: tt.frame[:len(tt.frame)-1]}
		if _, err := p.Parse(); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s without its last byte: %v", name, err)
		}
	}
	four := ipv4(0, 60, "10.0.0.1", "10.0.0.2")
	four[12], four[13] = 0x86, 0xdd
	p := Packet{Frame: four}
	if _, err := p.Parse(); !errors.Is(err, ErrMalformed) {
		t.Errorf("version 4 in an IPv6 frame: %v", err)
	}
}

// TestQueuesKeepNoLinks: a packet that is taken out of a queue, or put into another, has no
// link to what stood behind it.
func TestQueuesKeepNoLinks(t *testing.T) {
	var from, to Queue
	a, b := &Packet{Size: 1}, &Packet{Size: 2}
	from.Push(a)
	from.Push(b)
	if got := from.Pop(); got != a || got.Next != nil {
		t.Errorf("popped %p, linked to %p", got, got.Next)
	}
	a.Next = b
	to.Push(a)
	if to.Pop(); to.Pop() != nil || to.Len() != 0 {
		t.Error("a packet brought another one along")
	}
}

// TestPoolReuses: what was given back is handed out again, and what was never given back is
// handed out once.
func TestPoolReuses(t *testing.T) {
	pool := NewPool(64)
	seen := make(map[*Packet]bool)
	for range 3 * slab {
		k := pool.Get()
		if seen[k] {
			t.Fatal("a packet was handed out twice")
		}
		seen[k] = true
	}
	for k := range seen {
		pool.Put(k)
	}
	for range 3 * slab {
		k := pool.Get()
		if !seen[k] {
			t.Fatal("a packet was made though there were some")
		}
		delete(seen, k)
	}
}
