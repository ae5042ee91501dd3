package live

import (
	"bytes"
	"encoding/binary"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/traffic"
)

const (
	probeMagic   = "aqmp"
	probeHeaders = 20 + 8 // IPv4 and UDP
	probePayload = traffic.ProbeBytes - probeHeaders
)

// probePacket is the payload of a probe or, with its times, of an answer.
type probePacket struct {
	number        uint64
	arrived, left int64 // at and from the far host, in nanoseconds since 1970
}

func (k probePacket) put(b *[probePayload]byte) {
	clear(b[:])
	copy(b[:], probeMagic)
	binary.BigEndian.PutUint64(b[4:], k.number)
	binary.BigEndian.PutUint64(b[12:], uint64(k.arrived))
	binary.BigEndian.PutUint64(b[20:], uint64(k.left))
}

// parseProbe reads a payload; ok is false for one that is no probe's.
func parseProbe(b []byte) (k probePacket, ok bool) {
	if len(b) != probePayload || !bytes.HasPrefix(b, []byte(probeMagic)) {
		return k, false
	}
	number := func(at int) uint64 { return binary.BigEndian.Uint64(b[at:]) }
	return probePacket{number(4), int64(number(12)), int64(number(20))}, true
}

// stamped is a UDP socket for probes, which are received with the time at which
// the kernel got them. One goroutine reads from it, and one writes.
type stamped struct {
	*net.UDPConn
	options
	out [probePayload]byte
	in  [probePayload + 1]byte // a longer packet is no probe
	oob [128]byte
}

// origin is what the kernel says of a packet.
type origin struct {
	addr netip.AddrPort
	at   time.Time // when the kernel got it
	tos  int       // DSCP and ECN, where the socket asks for them
}

// newStamped takes over a socket.
func newStamped(c *net.UDPConn) (*stamped, error) {
	raw, err := rawConn(c)
	if err != nil {
		return nil, err
	}
	s := &stamped{UDPConn: c, options: options{raw: raw}}
	return s, s.set("SO_TIMESTAMPNS", unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
}

// ecnBits of a TOS say that the packet is ECN-capable, or how it fared.
const ecnBits = 0b11

// read returns the next packet of a probe, and passes over others.
func (s *stamped) read() (probePacket, origin, error) {
	for {
		n, oob, _, addr, err := s.ReadMsgUDPAddrPort(s.in[:], s.oob[:])
		if err != nil {
			return probePacket{}, origin{}, err
		}
		if k, ok := parseProbe(s.in[:n]); ok {
			from := origin{addr: addr, at: time.Now()} // should the kernel say nothing
			from.parse(s.oob[:oob])
			return k, from, nil
		}
	}
}

// parse reads what came beside a packet.
func (o *origin) parse(oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16:
			o.at = time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_TOS && len(m.Data) >= 1:
			o.tos = int(m.Data[0])
		}
	}
}
