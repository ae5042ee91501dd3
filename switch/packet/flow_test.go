package packet

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"testing"
)

// TestHashTCP: a connection has the hash that its segments are parsed to have,
// and its other direction has another one.
func TestHashTCP(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	end := func() netip.AddrPort {
		addr := binary.BigEndian.AppendUint32(nil, r.Uint32())
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addr)), uint16(r.Uint32()))
	}
	for range 100 {
		src, dst := end(), end()
		p := Packet{Frame: ipv4(0, 40, src.Addr().String(), dst.Addr().String())}
		binary.BigEndian.PutUint16(p.Frame[EthernetSize+20:], src.Port())
		binary.BigEndian.PutUint16(p.Frame[EthernetSize+22:], dst.Port())
		if _, err := p.Parse(); err != nil {
			t.Fatal(err)
		}
		if got := HashTCP(src, dst); got != p.Hash {
			t.Errorf("%v to %v: hash %x, parsed %x", src, dst, got, p.Hash)
		}
		if HashTCP(src, dst) == HashTCP(dst, src) {
			t.Errorf("%v and %v: both directions have one hash", src, dst)
		}
	}
}
