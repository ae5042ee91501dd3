package packet

import (
	"encoding/binary"
	"net/netip"
)

// HashTCP is the [Packet.Hash] that [Packet.Parse] gives the segments of a TCP
// connection over IPv4, in the direction from src to dst.
func HashTCP(src, dst netip.AddrPort) uint32 {
	a, b := src.Addr().As4(), dst.Addr().As4()
	addrs := binary.BigEndian.AppendUint32(a[:], binary.BigEndian.Uint32(b[:]))
	ports := uint64(src.Port())<<16 | uint64(dst.Port())
	return uint32(flowHash(protoTCP).add(binary.BigEndian.Uint64(addrs)).add(ports))
}
