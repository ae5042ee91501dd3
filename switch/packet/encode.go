package packet

import (
	"encoding/binary"
	"time"
)

// Encode appends to dst the headers that a modelled packet would have as a frame
// on the wire, from the Ethernet header up to its payload, which is all zero and
// left out. Src and Dst of the addresses are IPv4.
type Encode func(dst []byte, p *Packet, a Addrs) []byte

// Ports of modelled packets.
const (
	RoCEPort  = 4791 // of RoCEv2 (IANA)
	ProbePort = 5001 // of probes, at both ends

	firstPort = 1024
	portsUsed = 1<<16 - firstPort
)

// AppendTCP is the [Encode] of a TCP segment. Both ends have a port that follows
// from the connection's number. The stream begins at sequence number 1, as if
// that of the SYN had been 0. Timestamps (RFC 7323) count microseconds; the window
// is that of a receiver which is never full.
func AppendTCP(dst []byte, p *Packet, a Addrs) []byte {
	if p.Segment.Conn < 0 {
		return appendProbe(dst, p, a)
	}
	s := &p.Segment
	start := len(dst)
	dst = appendIPv4(dst, p, a, protoTCP)
	l4 := len(dst)
	from, to := ports(s.Conn, p.Src, p.Dst)
	dst = binary.BigEndian.AppendUint16(dst, from)
	dst = binary.BigEndian.AppendUint16(dst, to)
	seq, ack := uint32(s.Seq)+1, uint32(s.Ack)+1
	if s.Flags&SYN != 0 {
		seq = 0
	}
	if s.Flags&ACK == 0 {
		ack = 0
	}
	dst = binary.BigEndian.AppendUint32(dst, seq)
	dst = binary.BigEndian.AppendUint32(dst, ack)
	dst = append(dst, 0, tcpFlags(p), 0xff, 0xff, 0, 0, 0, 0)
	dst = appendOptions(dst, s)
	dst[l4+tcpOffsetFlags] = byte((len(dst)-l4)/4)<<4 | byte(s.ACE>>2&1)
	sum := pseudo(dst[start+EthernetSize:], protoTCP, len(dst)-l4+int(s.Len)).add(dst[l4:])
	binary.BigEndian.PutUint16(dst[l4+tcpChecksum:], sum.fold())
	return dst
}

// appendOptions appends the timestamps, and the SACK blocks padded as RFC 2018
// and RFC 7323, appendix A, show.
func appendOptions(dst []byte, s *Segment) []byte {
	const nop, kindSACK, kindStamps = 1, 5, 8
	dst = append(dst, nop, nop, kindStamps, 10)
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Stamp/time.Microsecond))
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Echo/time.Microsecond))
	if s.Blocks == 0 {
		return dst
	}
	dst = append(dst, nop, nop, kindSACK, 2+8*s.Blocks)
	for _, b := range s.SACK[:s.Blocks] {
		dst = binary.BigEndian.AppendUint32(dst, uint32(b.First)+1)
		dst = binary.BigEndian.AppendUint32(dst, uint32(b.End)+1)
	}
	return dst
}

func tcpFlags(p *Packet) (flags byte) {
	const psh, cwr = 1 << 3, 1 << 7
	for _, f := range []struct {
		have Flags
		bit  byte
	}{{SYN, flagSYN}, {ACK, flagACK}, {FIN, flagFIN}, {PSH, psh}, {CWR, cwr}} {
		if p.Segment.Flags&f.have != 0 {
			flags |= f.bit
		}
	}
	if p.ECE {
		flags |= flagECE
	}
	if ace := p.Segment.ACE; ace != 0 { // its flags are AE, CWR and ECE
		flags |= byte(ace & 3 << 6)
	}
	return flags
}

// AppendRoCE is the [Encode] of a RoCEv2 packet of a reliable connection
// (InfiniBand architecture specification, section 9 and annex A17). Its packet
// sequence number counts bytes, modulo 2^24, where real ones count packets.
func AppendRoCE(dst []byte, p *Packet, a Addrs) []byte {
	const (
		middle, acknowledge, notification = 0x01, 0x11, 0x81 // opcodes
		gap                               = 0x60             // syndrome: sequence error
	)
	s := &p.Segment
	if s.Conn < 0 {
		return appendProbe(dst, p, a)
	}
	dst = appendUDP(dst, p, a, [2]uint16{0xc000 | uint16(p.Hash), RoCEPort})
	opcode, psn, ask := byte(middle), uint32(s.Seq), byte(0)
	switch {
	case s.Flags&CNP != 0:
		opcode = notification
	case s.Flags&ACK != 0:
		opcode, psn = acknowledge, uint32(s.Ack)
	case s.Flags&REQ != 0:
		ask = 0x80
	}
	dst = append(dst, opcode, 0, 0xff, 0xff)
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Conn)&0xffffff)
	dst = binary.BigEndian.AppendUint32(dst, uint32(ask)<<24|psn&0xffffff)
	switch {
	case opcode == notification:
		dst = append(dst, make([]byte, 16)...)
	case opcode == acknowledge && s.Flags&NAK != 0:
		dst = append(dst, gap, 0, 0, 0)
	case opcode == acknowledge:
		dst = append(dst, 0, 0, 0, 0)
	}
	return dst
}

func appendProbe(dst []byte, p *Packet, a Addrs) []byte {
	return appendUDP(dst, p, a, [2]uint16{ProbePort, ProbePort})
}

// appendUDP appends the headers of a datagram without a checksum.
func appendUDP(dst []byte, p *Packet, a Addrs, ports [2]uint16) []byte {
	dst = appendIPv4(dst, p, a, protoUDP)
	for _, word := range []uint16{ports[0], ports[1], uint16(p.Size - ipv4MinSize), 0} {
		dst = binary.BigEndian.AppendUint16(dst, word)
	}
	return dst
}

// appendIPv4 appends the Ethernet header, with addresses made of the hosts'
// numbers, and the IPv4 header.
func appendIPv4(dst []byte, p *Packet, a Addrs, protocol byte) []byte {
	for _, host := range []int32{p.Dst, p.Src} {
		dst = append(dst, 0x02, 0)
		dst = binary.BigEndian.AppendUint32(dst, uint32(host))
	}
	dst = binary.BigEndian.AppendUint16(dst, typeIPv4)
	l3 := len(dst)
	const dontFragment, ttl = 0x40, 64
	dst = append(dst, 0x45, p.DSCP<<2|byte(p.ECN))
	dst = binary.BigEndian.AppendUint16(dst, uint16(p.Size))
	dst = append(dst, 0, 0, dontFragment, 0, ttl, protocol, 0, 0)
	from, to := a.Src.As4(), a.Dst.As4()
	dst = append(dst, from[:]...)
	dst = append(dst, to[:]...)
	binary.BigEndian.PutUint16(dst[l3+10:], onesSum(0).add(dst[l3:]).fold())
	return dst
}

// ports are the port numbers of a connection, of the sending end first. The end at
// the host with the lower number has a new one for every connection.
func ports(conn, src, dst int32) (from, to uint16) {
	low := firstPort + uint16(uint32(conn)%portsUsed)
	high := ProbePort + uint16(uint32(conn)/portsUsed)
	if src < dst {
		return low, high
	}
	return high, low
}
