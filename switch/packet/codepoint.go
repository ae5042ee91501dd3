package packet

import "encoding/binary"

// Codepoint is the ECN codepoint that what a transport sends gets in place of its own. The
// zero Codepoint leaves every packet as it is.
type Codepoint struct {
	Set bool
	ECN ECN // NotECT, ECT0 or ECT1
	// All has packets with payload get it, too, that the transport does not make
	// ECN-capable. Else only those do that it does.
	All bool
}

// Of is the codepoint of a packet that the transport has given its own. A mark stays.
func (c Codepoint) Of(own ECN, payload bool) ECN {
	if c.Set && own != CE && (own.Capable() || c.All && payload) {
		return c.ECN
	}
	return own
}

// SetECN gives the packet a codepoint, in the frame too.
func (p *Packet) SetECN(e ECN) {
	if p.ECN == e {
		return
	}
	p.ECN = e
	if p.Frame != nil {
		setECN(p.Frame[p.l3:], e)
	}
}

// HasPayload tells whether the packet is a TCP segment or a datagram with payload. One of a
// modelled host may be a packet of another transport.
func (p *Packet) HasPayload() bool {
	switch {
	case p.Frame == nil:
		return p.Segment.Len > 0
	case p.l4 > 0:
		header := int(p.Frame[p.l4+tcpOffsetFlags]>>4) * 4
		return int(p.l4-p.l3)+header < int(p.Size)
	}
	proto, header := byte(0), 0
	switch h := p.Frame[p.l3:]; h[0] >> 4 {
	case 4:
		proto, header = h[9], int(h[0]&0x0f)*4
	case 6:
		proto, header = h[6], ipv6Size
	}
	return proto == protoUDP && header+udpSize < int(p.Size)
}

// setECN writes a codepoint into the network-layer header h and corrects the IPv4 checksum.
func setECN(h []byte, e ECN) {
	if h[0]>>4 == 6 {
		h[1] = h[1]&^0x30 | byte(e)<<4
		return
	}
	before := binary.BigEndian.Uint16(h)
	h[1] = h[1]&^0b11 | byte(e)
	correct(h[10:], before, binary.BigEndian.Uint16(h))
}
