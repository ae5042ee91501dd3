//go:build linux

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Shape of a receive ring: at most 4 MiB, which is 2048 slots for the usual MTU, or
// 25 ms of full frames at 1 Gbps. All of a switch take 128 MiB together, but none
// less than 1 MiB: what arrives while the switch's thread is away is bounded by what
// the machine carries, not by the number of ports, and the kernel clears a ring's
// memory page by page before the switch comes up. The kernel puts up to 128 bytes
// of its own before a frame.
const (
	ringMost      = 4 << 20
	ringLeast     = 1 << 20
	ringsTogether = 128 << 20
	ringBlock     = 1 << 16
	ringOverhead  = 128
)

// RingBytes is the size of each ring, a power of two, of a switch with so many
// ports.
func RingBytes(ports int) int {
	share := ringsTogether / max(ports, 1)
	return min(max(1<<(bits.Len(uint(share))-1), ringLeast), ringMost)
}

// ringBytes is the size of each ring of a switch. In virtual time the switch is never
// away, and rings that fit into the processor's cache together take half the time.
func (c Config) ringBytes() int {
	if c.Virtual {
		return sharedRing(len(c.Ports))
	}
	return RingBytes(len(c.Ports) + len(c.Trunks))
}

// ring is where frames of one network interface, or of all, come in through a TPACKET_V2 ring
// shared with the kernel, with the kernel's receive timestamp. Frames leave by
// sockets of an [outbox]: one that did both would be written to by two CPUs. One goroutine uses it at a time.
type ring struct {
	name  string
	fd    int
	mem   []byte
	bytes int   // of all slots, see RingBytes
	size  int   // of a slot, a power of two
	slot  int   // where the next one to read starts
	drops int64 // frames that the kernel could not put into the ring
}

// newRing makes a socket in the calling thread's network namespace, for the
// interface of that name, a ring of so many bytes, and frames of up to mtu bytes
// beside their Ethernet header. Nothing arrives until it is opened.
func newRing(name string, bytes, mtu int) (*ring, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("interface %s: opening a packet socket: %w", name, err)
	}
	return &ring{name: name, fd: fd, bytes: bytes, size: 1 << bits.Len(uint(mtu+ringOverhead))}, nil
}

// open makes the ring and attaches it to the interfaces of these indices, whose frames it
// refuses. With more than one it gets those of all others of the namespace, too.
func (r *ring) open(indices ...int) error {
	if err := r.setUp(indices); err != nil {
		return fmt.Errorf("interface %s: %w", r.name, err)
	}
	return nil
}

func (r *ring) setUp(indices []int) error {
	options := []struct {
		level, option, value int
		name                 string
	}{
		{unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V2, "TPACKET_V2"},
		// Stamps are taken when the frame enters the kernel's receive path, not
		// when the ring gets it, which may be a soft interrupt later.
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1, "receive timestamps"},
		// What the switch sends must not come back in.
		{unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING"},
	}
	for _, o := range options {
		if err := unix.SetsockoptInt(r.fd, o.level, o.option, o.value); err != nil {
			return fmt.Errorf("setting %s: %w", o.name, err)
		}
	}
	req := unix.TpacketReq{Block_size: ringBlock, Block_nr: uint32(r.bytes / ringBlock), Frame_size: uint32(r.size), Frame_nr: uint32(r.bytes / r.size)}
	if err := unix.SetsockoptTpacketReq(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return fmt.Errorf("making the receive ring: %w", err)
	}
	mem, err := unix.Mmap(r.fd, 0, r.bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return fmt.Errorf("mapping the receive ring: %w", err)
	}
	r.mem = mem
	for _, index := range indices {
		mreq := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
		if err := unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &mreq); err != nil {
			return fmt.Errorf("entering promiscuous mode: %w", err)
		}
	}
	if err := r.refuse(true); err != nil {
		return err
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	to := unix.SockaddrLinklayer{Protocol: all}
	if len(indices) == 1 {
		to.Ifindex = indices[0]
	}
	if err := unix.Bind(r.fd, &to); err != nil {
		return fmt.Errorf("binding the packet socket: %w", err)
	}
	return nil
}

// refuse has the kernel keep all frames out of the ring from now on, or take them again.
// A ring that nobody empties costs whoever else uses its interface.
func (r *ring) refuse(all bool) error {
	var err error
	if all {
		none := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // zero bytes of any frame
		err = unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &none})
	} else {
		err = unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0)
	}
	if err != nil {
		return fmt.Errorf("interface %s: filtering what it receives: %w", r.name, err)
	}
	return nil
}

func (r *ring) close() error {
	var err error
	if r.mem != nil {
		err = unix.Munmap(r.mem)
		r.mem = nil
	}
	return errors.Join(err, unix.Close(r.fd))
}

// frame is one received frame, still in the ring.
type frame struct {
	header *unix.Tpacket2Hdr
	data   []byte // captured bytes, a VLAN tag that the kernel took out excepted
}

// peek returns the oldest frame that the kernel has put into the ring, if
// there is one. It stays there until pop.
func (r *ring) peek() (frame, bool) {
	slot := r.mem[r.slot:][:r.size]
	h := (*unix.Tpacket2Hdr)(unsafe.Pointer(&slot[0]))
	if atomic.LoadUint32(&h.Status)&unix.TP_STATUS_USER == 0 {
		return frame{}, false
	}
	return frame{h, slot[h.Mac:][:h.Snaplen]}, true
}

// pop gives the slot of the frame that peek returned back to the kernel.
func (r *ring) pop(f frame) {
	atomic.StoreUint32(&f.header.Status, unix.TP_STATUS_KERNEL)
	r.slot = (r.slot + r.size) % r.bytes
}

// stamp is the kernel's receive time, in nanoseconds of the real-time clock.
func (f frame) stamp() int64 { return int64(f.header.Sec)*1e9 + int64(f.header.Nsec) }

// index is that of the interface that it came in by.
func (f frame) index() int {
	sender := (*unix.RawSockaddrLinklayer)(unsafe.Add(unsafe.Pointer(f.header), senderOffset))
	return int(sender.Ifindex)
}

// senderOffset is where the kernel puts a frame's sockaddr_ll: behind its header, which
// ends at a multiple of TPACKET_ALIGNMENT (packet(7)).
const senderOffset = unix.SizeofTpacket2Hdr

// usable tells whether the frame is as it was on the wire: whole, and with its
// checksums filled in.
func (f frame) usable() bool {
	return f.header.Len == f.header.Snaplen && f.header.Status&unix.TP_STATUS_CSUMNOTREADY == 0
}

// appendTo appends the frame to b, with its outer VLAN tag put back.
func (f frame) appendTo(b []byte) []byte {
	if f.header.Status&unix.TP_STATUS_VLAN_VALID == 0 || len(f.data) < 12 {
		return append(b, f.data...)
	}
	tpid := uint16(unix.ETH_P_8021Q)
	if f.header.Status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
		tpid = f.header.Vlan_tpid
	}
	b = append(b, f.data[:12]...)
	b = binary.BigEndian.AppendUint16(b, tpid)
	b = binary.BigEndian.AppendUint16(b, f.header.Vlan_tci)
	return append(b, f.data[12:]...)
}

// lost adds up, since the ring was opened, the frames that found it full.
func (r *ring) lost() (int64, error) {
	stats, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, fmt.Errorf("interface %s: reading packet statistics: %w", r.name, err)
	}
	r.drops += int64(stats.Drops) // the kernel's counter restarts at every reading
	return r.drops, nil
}
