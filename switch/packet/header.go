package packet

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"net/netip"
)

// Reasons why a frame is not forwarded.
var (
	ErrNotIP     = errors.New("not an IP packet")
	ErrMalformed = errors.New("malformed header")
	ErrChecksum  = errors.New("wrong IPv4 header checksum")
)

// Sizes that the whole project counts with, in bytes.
const (
	// FrameOverhead is what Ethernet adds to a packet on the wire: header 14, FCS 4,
	// preamble 8 and inter-frame gap 12.
	FrameOverhead = 38
	// leastPayload is what a frame is padded to: 64 bytes with header and FCS.
	leastPayload = 46
	// UDPHeaders is what a datagram carries before its payload: IPv4 20, UDP 8.
	UDPHeaders = 28
	// TCPHeaders is what a TCP segment carries before its payload: IPv4 20, TCP 20
	// and the timestamps option 12.
	TCPHeaders = 52
	// FullPacket is a packet that fills an MTU of 1500.
	FullPacket = 1500
)

// Sizes and EtherTypes of the headers that the switch reads.
const (
	EthernetSize = 14 // without VLAN tags
	vlanSize     = 4
	ipv4MinSize  = 20
	ipv6Size     = 40
	udpSize      = 8

	typeIPv4  = 0x0800
	typeIPv6  = 0x86dd
	typeVLAN  = 0x8100 // IEEE 802.1Q
	typeSVLAN = 0x88a8 // IEEE 802.1ad
	maxVLANs  = 2
	protoTCP  = 6
	protoUDP  = 17
	fragments = 0x3fff // mask of "more fragments" and the fragment offset
)

// The TCP header (RFC 9293, section 3.1).
const (
	tcpMinSize     = 20
	tcpOffsetFlags = 12 // where the word of data offset and flags stands
	tcpWindow      = 14
	tcpChecksum    = 16

	flagFIN = 1 << 0
	flagSYN = 1 << 1
	flagRST = 1 << 2
	flagACK = 1 << 4
	flagECE = 1 << 6
)

// Addrs are the network-layer addresses of a packet.
type Addrs struct{ Src, Dst netip.Addr }

// Parse reads the headers of p.Frame into p and returns the addresses, from
// which the caller fills in the host indices. Up to two VLAN tags are skipped.
// It returns [ErrNotIP], [ErrMalformed] or [ErrChecksum] for a frame that a
// router would not forward; p is then in no defined state.
func (p *Packet) Parse() (Addrs, error) {
	f := p.Frame
	if len(f) < EthernetSize {
		return Addrs{}, ErrMalformed
	}
	at := EthernetSize
	etherType := binary.BigEndian.Uint16(f[at-2:])
	for range maxVLANs {
		if etherType != typeVLAN && etherType != typeSVLAN {
			break
		}
		at += vlanSize
		if len(f) < at {
			return Addrs{}, ErrMalformed
		}
		etherType = binary.BigEndian.Uint16(f[at-2:])
	}
	p.l3 = uint8(at)
	p.PureACK, p.ECE, p.l4 = false, false, 0
	switch etherType {
	case typeIPv4:
		return p.parseIPv4(f[at:])
	case typeIPv6:
		return p.parseIPv6(f[at:])
	}
	return Addrs{}, ErrNotIP
}

func (p *Packet) parseIPv4(h []byte) (Addrs, error) {
	if len(h) < ipv4MinSize || h[0]>>4 != 4 {
		return Addrs{}, ErrMalformed
	}
	header, total := int(h[0]&0x0f)*4, int(binary.BigEndian.Uint16(h[2:]))
	if header < ipv4MinSize || total < header || total > len(h) {
		return Addrs{}, ErrMalformed
	}
	if onesSum(0).add(h[:header]).fold() != 0 {
		return Addrs{}, ErrChecksum
	}
	p.Size = int32(total)
	p.DSCP, p.ECN = h[1]>>2, ECN(h[1]&0b11)
	flow := flowHash(h[9]).add(binary.BigEndian.Uint64(h[12:]))
	if binary.BigEndian.Uint16(h[6:])&fragments == 0 {
		flow = flow.addPorts(h[9], h[header:total])
		p.parseTCP(h[9], h[:total], header)
	}
	p.Hash = uint32(flow)
	return Addrs{netip.AddrFrom4([4]byte(h[12:16])), netip.AddrFrom4([4]byte(h[16:20]))}, nil
}

func (p *Packet) parseIPv6(h []byte) (Addrs, error) {
	if len(h) < ipv6Size || h[0]>>4 != 6 {
		return Addrs{}, ErrMalformed
	}
	total := ipv6Size + int(binary.BigEndian.Uint16(h[4:]))
	if total > len(h) {
		return Addrs{}, ErrMalformed
	}
	class := h[0]<<4 | h[1]>>4
	p.Size = int32(total)
	p.DSCP, p.ECN = class>>2, ECN(class&0b11)
	flow := flowHash(h[6])
	for i := 8; i < ipv6Size; i += 8 {
		flow = flow.add(binary.BigEndian.Uint64(h[i:]))
	}
	p.Hash = uint32(flow.addPorts(h[6], h[ipv6Size:total]))
	p.parseTCP(h[6], h[:total], ipv6Size)
	return Addrs{netip.AddrFrom16([16]byte(h[8:24])), netip.AddrFrom16([16]byte(h[24:40]))}, nil
}

// parseTCP finds out whether the network-layer packet d, whose payload starts at
// the byte at, is a pure ACK. It ignores an incomplete TCP header, which a router
// would forward, and does not look behind IPv6 extension headers.
func (p *Packet) parseTCP(proto byte, d []byte, at int) {
	segment := d[at:]
	if proto != protoTCP || len(segment) < tcpMinSize {
		return
	}
	header, flags := int(segment[tcpOffsetFlags]>>4)*4, segment[tcpOffsetFlags+1]
	if header < tcpMinSize || header > len(segment) {
		return
	}
	p.ECE = flags&flagECE != 0
	p.PureACK = header == len(segment) && flags&(flagACK|flagSYN|flagFIN|flagRST) == flagACK
	p.l4 = p.l3 + uint8(at)
}

// setCE writes congestion experienced into the network-layer header h and
// corrects the IPv4 checksum.
func setCE(h []byte) {
	if h[0]>>4 == 6 {
		h[1] |= byte(CE) << 4
		return
	}
	before := binary.BigEndian.Uint16(h)
	h[1] |= byte(CE)
	correct(h[10:], before, binary.BigEndian.Uint16(h))
}

// setECE writes the ECN echo into the TCP header h and corrects its checksum.
func setECE(h []byte) {
	word := h[tcpOffsetFlags:]
	before := binary.BigEndian.Uint16(word)
	word[1] |= flagECE
	correct(h[tcpChecksum:], before, binary.BigEndian.Uint16(word))
}

// cutWindow lowers the window in the TCP header h to at most field, corrects its
// checksum, and tells whether the window was larger.
func cutWindow(h []byte, field uint16) bool {
	before := binary.BigEndian.Uint16(h[tcpWindow:])
	if before <= field {
		return false
	}
	binary.BigEndian.PutUint16(h[tcpWindow:], field)
	correct(h[tcpChecksum:], before, field)
	return true
}

// correct updates a checksum after one word that it covers has changed from before
// to after (RFC 1624, equation 3).
func correct(checksum []byte, before, after uint16) {
	s := onesSum(^binary.BigEndian.Uint16(checksum)) + onesSum(^before) + onesSum(after)
	binary.BigEndian.PutUint16(checksum, s.fold())
}

// onesSum is a sum for the Internet checksum (RFC 1071), over an even number of
// bytes.
type onesSum uint32

// pseudo sums up the pseudo-header of a packet of that network layer (RFC 9293,
// section 3.1).
func pseudo(l3 []byte, protocol byte, length int) onesSum {
	return onesSum(protocol) + onesSum(length) + onesSum(0).add(l3[12:20])
}

func (s onesSum) add(b []byte) onesSum {
	for ; len(b) > 1; b = b[2:] {
		s += onesSum(binary.BigEndian.Uint16(b))
	}
	return s
}

// fold is the checksum: zero for a header whose own checksum is right.
func (s onesSum) fold() uint16 {
	for s > 0xffff {
		s = s>>16 + s&0xffff
	}
	return ^uint16(s)
}

// flowHash mixes what identifies a flow, so that equal-cost paths get equal
// shares of flows and a flow keeps its path.
type flowHash uint64

func (f flowHash) add(v uint64) flowHash {
	const odd1, odd2 = 0x9e3779b97f4a7c15, 0xd6e8feb86659fd93
	hi, lo := bits.Mul64(uint64(f)^v^odd1, odd2)
	return flowHash(hi ^ lo)
}

// addPorts mixes in the ports of a transport that has them.
func (f flowHash) addPorts(proto byte, segment []byte) flowHash {
	if (proto != protoTCP && proto != protoUDP) || len(segment) < 4 {
		return f
	}
	return f.add(uint64(binary.BigEndian.Uint32(segment)))
}

// HashTCP is the [Packet.Hash] that [Packet.Parse] gives the segments of a TCP
// connection over IPv4, in the direction from src to dst.
func HashTCP(src, dst netip.AddrPort) uint32 {
	a, b := src.Addr().As4(), dst.Addr().As4()
	addrs := binary.BigEndian.AppendUint32(a[:], binary.BigEndian.Uint32(b[:]))
	ports := uint64(src.Port())<<16 | uint64(dst.Port())
	return uint32(flowHash(protoTCP).add(binary.BigEndian.Uint64(addrs)).add(ports))
}

// Mark sets congestion experienced, in the frame too. The caller has made sure
// that the packet is ECN-capable.
func (p *Packet) Mark() {
	p.ECN = CE
	if p.Frame != nil {
		setCE(p.Frame[p.l3:])
	}
}

// SetECE sets the ECN echo, in the frame too. The caller has made sure that the
// packet is a TCP segment. An echo that is set already stays as it is.
func (p *Packet) SetECE() {
	if p.ECE {
		return
	}
	p.ECE = true
	if p.Frame != nil {
		setECE(p.Frame[p.l4:])
	}
}

// CutWindow lowers the window that a TCP segment tells to at most that many bytes,
// above zero, and tells whether it was larger. In a frame the window counts units
// of 1 << shift bytes (RFC 7323, section 2.2), which only the handshake tells; a
// fraction of a unit counts as one, so that the window does not close.
func (p *Packet) CutWindow(bytes int, shift uint) bool {
	if p.Frame != nil {
		units := (bytes + 1<<shift - 1) >> shift
		return cutWindow(p.Frame[p.l4:], uint16(min(units, 0xffff)))
	}
	w := &p.Segment.Window
	if *w != 0 && int(*w) <= bytes {
		return false
	}
	*w = int32(bytes)
	return true
}
