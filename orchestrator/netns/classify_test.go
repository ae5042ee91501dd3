package netns

import (
	"encoding/binary"
	"math/rand/v2"
	"net/netip"
	"os"
	"testing"
	"time"

	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
)

// segment is one TCP segment, or what else a host may send.
type segment struct {
	src, dst  netip.AddrPort
	flags     byte
	options   int // bytes of TCP options
	payload   int
	ipOptions int
	protocol  byte
	fragment  uint16 // the field of the IPv4 header
}

// frame is the segment on the wire. The checksum of the IPv4 header is right,
// the one of TCP is not looked at.
func (s segment) frame() []byte {
	header := 20 + s.ipOptions
	ip := make([]byte, header+20+s.options+s.payload)
	ip[0], ip[6], ip[7], ip[8], ip[9] = 0x40|byte(header/4), byte(s.fragment>>8), byte(s.fragment), 64, s.protocol
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], s.src.Addr().AsSlice())
	copy(ip[16:], s.dst.Addr().AsSlice())
	var sum uint32
	for i := 0; i < header; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum&0xffff+sum>>16))
	tcp := ip[header:]
	binary.BigEndian.PutUint16(tcp, s.src.Port())
	binary.BigEndian.PutUint16(tcp[2:], s.dst.Port())
	tcp[12], tcp[13] = byte(5+s.options/4)<<4, s.flags
	return append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00}, ip...)
}

const (
	syn, ack, psh = 0x02, 0x10, 0x08
	tcp, udp      = 6, 17
	icmp          = 1
)

// classOf asks the classifier.
func classOf(t *testing.T, classes int, frames ...[]byte) []uint32 {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("BPF programs need root")
	}
	program, err := loadClassifier(classes)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	all := make([]uint32, len(frames))
	for i, f := range frames {
		if all[i], _, err = program.Test(f); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// TestClassifierAgreesWithFabric: a flow has the delay that the switch's delay
// line would give it.
func TestClassifierAgreesWithFabric(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	end := func() netip.AddrPort {
		addr := binary.BigEndian.AppendUint32(nil, r.Uint32())
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(addr)), uint16(r.Uint32()))
	}
	for _, classes := range []int{1, 2, 3, 128, maxClasses} {
		h := fabric.Host{Delays: make([]time.Duration, classes)}
		for i := range h.Delays {
			h.Delays[i] = time.Duration(i)
		}
		var frames [][]byte
		var want []uint32
		for range 200 {
			s := segment{src: end(), dst: end(), flags: ack, payload: 1 + r.IntN(100), options: 4 * r.IntN(11), ipOptions: 4 * r.IntN(11), protocol: tcp}
			frames = append(frames, s.frame())
			want = append(want, classHandle(int(h.Delay(s.src, s.dst))))
		}
		for i, got := range classOf(t, classes, frames...) {
			if got != want[i] {
				t.Errorf("of %d classes, frame %x has %x, want %x", classes, frames[i], got, want[i])
			}
		}
	}
}

// TestClassifierSparesPureACKs: the classifier takes for a pure ACK what the
// switch does, and nothing else.
func TestClassifierSparesPureACKs(t *testing.T) {
	src, dst := netip.MustParseAddrPort("10.77.0.1:40000"), netip.MustParseAddrPort("10.77.0.2:5001")
	var frames [][]byte
	for _, s := range []segment{
		{flags: ack},
		{flags: ack, options: 12},
		{flags: ack, options: 12, ipOptions: 8},
		{flags: ack | 0x40},
		{flags: ack, payload: 1},
		{flags: ack | psh, payload: 1448, options: 12},
		{flags: syn, options: 20},
		{flags: syn | ack, options: 20},
		{flags: ack | 0x01},
		{flags: ack | 0x04},
		{flags: 0x04},
		{flags: ack, fragment: 0x2000},
		{flags: ack, fragment: 10},
	} {
		s.src, s.dst, s.protocol = src, dst, tcp
		frames = append(frames, s.frame())
	}
	for _, protocol := range []byte{udp, icmp} {
		frames = append(frames, segment{src: src, dst: dst, flags: ack, protocol: protocol}.frame())
	}
	for i, got := range classOf(t, 128, frames...) {
		p := packet.Packet{Frame: frames[i]}
		if _, err := p.Parse(); err != nil {
			t.Fatal(err)
		}
		if spared := got == 0; spared != p.PureACK {
			t.Errorf("frame %x: spared %v, a pure ACK %v", frames[i], spared, p.PureACK)
		}
	}
}

// TestClassifierLeavesOthersAlone: what is no IPv4 packet with the ports that it
// should have waits for nothing.
func TestClassifierLeavesOthersAlone(t *testing.T) {
	whole := segment{src: netip.MustParseAddrPort("10.77.0.1:1"), dst: netip.MustParseAddrPort("10.77.0.2:2"), protocol: tcp}.frame()
	six := append([]byte{}, whole...)
	six[14] = 0x60
	for i, got := range classOf(t, 4, whole[:14+22], six) {
		if got != 0 {
			t.Errorf("frame %d: class %x, want none", i, got)
		}
	}
}
