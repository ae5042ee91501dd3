//go:build linux

package wire

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/kind"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// received is a frame as the kernel leaves it in a ring.
type received struct {
	name   string
	frame  []byte
	status uint32 // beside that it is there
	tpid   uint16 // of an outer VLAN tag that the kernel took out
	tci    uint16
	cut    int    // bytes that did not fit the slot
	want   []byte // as it leaves the switch but for the Ethernet addresses; nil for one that is ignored
}

// ringOf is a ring in plain memory with these frames in it.
func ringOf(frames []received) *ring {
	const size = 2048
	r := &ring{mem: make([]byte, size*(len(frames)+1)), size: size}
	r.bytes = len(r.mem)
	for i, f := range frames {
		slot := r.mem[i*size:][:size]
		h := (*unix.Tpacket2Hdr)(unsafe.Pointer(&slot[0]))
		*h = unix.Tpacket2Hdr{
			Status: unix.TP_STATUS_USER | f.status, Mac: 64,
			Len: uint32(len(f.frame) + f.cut), Snaplen: uint32(len(f.frame)),
			Vlan_tci: f.tci, Vlan_tpid: f.tpid,
		}
		copy(slot[64:], f.frame)
	}
	return r
}

// ethernet is a frame with these words of two bytes behind the addresses and
// before the payload.
func ethernet(payload []byte, types ...uint16) []byte {
	f := make([]byte, 12)
	for _, t := range types {
		f = binary.BigEndian.AppendUint16(f, t)
	}
	return append(f, payload...)
}

// ipv4 and ipv6 are UDP packets to the second and the third host.
func ipv4(tos byte) []byte {
	h := make([]byte, 40)
	h[0], h[1], h[3], h[8], h[9] = 0x45, tos, 40, 64, 17
	copy(h[12:], []byte{10, 99, 0, 1, 10, 99, 0, 2})
	var sum uint32
	for i := 0; i < 20; i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	sum = sum&0xffff + sum>>16
	binary.BigEndian.PutUint16(h[10:], ^uint16(sum+sum>>16))
	return h
}

func ipv6(class byte) []byte {
	h := make([]byte, 60)
	h[0], h[1], h[5], h[6], h[7] = 0x60|class>>4, class<<4, 20, 17, 64
	copy(h[8:], netip.MustParseAddr("2001:db8::1").AsSlice())
	copy(h[24:], netip.MustParseAddr("2001:db8::2").AsSlice())
	return h
}

func altered(b []byte, at int, v byte) []byte {
	b = slices.Clone(b)
	b[at] = v
	return b
}

// frames are what a host may send: the switch marks what is ECN-capable, but for
// the first to each receiver, which need not wait.
func frames() []received {
	const v4, v6, vlan, svlan = 0x0800, 0x86dd, 0x8100, 0x88a8
	const ect0, ect1, ce = 0b10, 0b01, 0b11
	valid := uint32(unix.TP_STATUS_VLAN_VALID)
	typed := valid | unix.TP_STATUS_VLAN_TPID_VALID
	stranger := ipv6(ect0)
	stranger[39] = 9
	return []received{
		{name: "IPv4, first", frame: ethernet(ipv4(ect1), v4), want: ethernet(ipv4(ect1), v4)},
		{name: "IPv6, first", frame: ethernet(ipv6(ect0), v6), want: ethernet(ipv6(ect0), v6)},
		{name: "IPv4", frame: ethernet(ipv4(ect0), v4), want: ethernet(ipv4(ce), v4)},
		{name: "IPv4, not ECN-capable", frame: ethernet(ipv4(0), v4), want: ethernet(ipv4(0), v4)},
		{name: "IPv6", frame: ethernet(ipv6(ect1), v6), want: ethernet(ipv6(ce), v6)},
		{name: "IPv6, not ECN-capable", frame: ethernet(ipv6(0), v6), want: ethernet(ipv6(0), v6)},
		{name: "tagged", frame: ethernet(ipv4(ect0), vlan, 7, v4), want: ethernet(ipv4(ce), vlan, 7, v4)},
		{name: "tag taken out", frame: ethernet(ipv4(ect0), v4), status: valid, tci: 7, want: ethernet(ipv4(ce), vlan, 7, v4)},
		{name: "service tag taken out", frame: ethernet(ipv6(ect0), vlan, 7, v6), status: typed, tpid: svlan, tci: 0x6009, want: ethernet(ipv6(ce), svlan, 0x6009, vlan, 7, v6)},
		{name: "three tags", frame: ethernet(ipv4(ect0), vlan, 1, vlan, 2, v4), status: valid, tci: 3},
		{name: "padded", frame: append(ethernet(ipv4(ect0), v4), 0, 0, 0), want: append(ethernet(ipv4(ce), v4), 0, 0, 0)},
		{name: "empty"},
		{name: "addresses alone", frame: make([]byte, 12)},
		{name: "tag taken out of nothing", frame: make([]byte, 11), status: valid, tci: 7},
		{name: "cut inside a tag", frame: ethernet(nil, vlan)},
		{name: "cut inside IPv4", frame: ethernet(ipv4(ect0)[:19], v4)},
		{name: "cut inside IPv6", frame: ethernet(ipv6(ect0)[:39], v6)},
		{name: "IPv4 longer than the frame", frame: ethernet(ipv4(ect0)[:30], v4)},
		{name: "header of 60 bytes", frame: ethernet(altered(ipv4(ect0), 0, 0x4f), v4)},
		{name: "wrong checksum", frame: ethernet(altered(ipv4(ect0), 8, 63), v4)},
		{name: "ARP", frame: ethernet(make([]byte, 28), 0x0806)},
		{name: "to nobody", frame: ethernet(stranger, v6)},
		{name: "larger than a slot", frame: ethernet(ipv4(ect0), v4), cut: 1},
		{name: "checksums not filled in", frame: ethernet(ipv4(ect0), v4), status: unix.TP_STATUS_CSUMNOTREADY},
	}
}

// TestFrames: every frame of a ring is forwarded, marked, and otherwise as it was,
// or counted as ignored; none ends the switch.
func TestFrames(t *testing.T) {
	all, forwarded := frames(), 0
	d := driverOf(t, ringOf(all))
	if n := d.receive(reading{}, &d.inlets[0]); n != len(all) {
		t.Fatalf("%d frames of %d", n, len(all))
	}
	d.loop.RunUntil(time.Minute)
	for _, f := range all {
		if f.want == nil {
			continue
		}
		forwarded++
		i := slices.IndexFunc(d.out.packets, func(k *packet.Packet) bool { return slices.Equal(k.Frame[12:], f.want[12:]) })
		if i < 0 {
			t.Errorf("%s: not forwarded as %x", f.name, f.want[12:])
			continue
		}
		d.out.packets = slices.Delete(d.out.packets, i, i+1)
	}
	for _, k := range d.out.packets {
		t.Errorf("%x left, too", k.Frame)
	}
	if want := len(all) - forwarded; d.tally.ignored != int64(want) || d.pool.Taken() != forwarded {
		t.Errorf("%d ignored, want %d; %d packets are out, want %d", d.tally.ignored, want, d.pool.Taken(), forwarded)
	}
}

// driverOf is a switch of three hosts, which marks whatever waits and keeps what it
// sends. The receivers' links are slow, so that all but the first packet waits.
func driverOf(t *testing.T, r *ring) *driver {
	t.Helper()
	spec := fabric.Spec{Switches: []string{"s1"}, Port: port.Spec{
		Queues: 1, Buffer: units.MB, Scheduler: kind.Choice{Kind: "fifo"},
		Scheme: kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "1ns"}},
	}}
	for i, addr := range []string{"10.99.0.1", "10.99.0.2", "2001:db8::2"} {
		name := string(rune('a' + i))
		spec.Hosts = append(spec.Hosts, fabric.Host{Name: name, Addr: netip.MustParseAddr(addr)})
		rate := units.Mbps
		if i == 0 {
			rate = units.Gbps
		}
		spec.Links = append(spec.Links, fabric.Link{A: name, B: "s1", Rate: rate, Delay: time.Microsecond})
	}
	d := &driver{
		clock: clock{dilation: 1}, pool: packet.NewPool(r.size),
		ports: make([]nic, 3), inlets: []inlet{{ring: r}},
		out: newOutbox(make([]int, 3), 100), // none is sent: it is not full
	}
	d.assign(spec)
	var err error
	if d.network, err = fabric.New(&d.loop, spec, fabric.Attachment{Edge: d, Release: d.pool.Put}); err != nil {
		t.Fatal(err)
	}
	return d
}
