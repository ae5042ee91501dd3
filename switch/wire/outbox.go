//go:build linux

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/switch/packet"
)

// outbox sends frames by any of a switch's interfaces, many with one system call,
// each with the time at which its host is to have it.
type outbox struct {
	fd       int
	packets  []*packet.Packet // posted and not yet sent; at most batch
	links    []unix.RawSockaddrLinklayer
	messages [batch]message
	iovs     [batch]unix.Iovec
	controls [batch]control
}

// batch is the most frames that one call sends.
const batch = 256

// message is struct mmsghdr of sendmmsg(2).
type message struct {
	unix.Msghdr
	sent uint32 // bytes, set by the kernel
}

// control is the control message SCM_TXTIME.
type control struct {
	unix.Cmsghdr
	due int64 // CLOCK_MONOTONIC, in nanoseconds
}

// sendBuffer is the memory of frames under way, in bytes. A fabric runs ahead of its
// hosts by at most a quarter of a ring for each of them.
const sendBuffer = 256 << 20

// newOutbox makes the socket for interfaces of these indices.
func newOutbox(interfaces []int) (*outbox, error) {
	// It is for no protocol, so nothing arrives.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening a packet socket: %w", err)
	}
	o := &outbox{fd: fd}
	// struct sock_txtime of linux/net_tstamp.h: the clock, and no flags.
	if err := unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_TXTIME, string(binary.NativeEndian.AppendUint64(nil, unix.CLOCK_MONOTONIC))); err != nil {
		return nil, fmt.Errorf("setting SO_TXTIME: %w", errors.Join(err, o.close()))
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, sendBuffer); err != nil {
		return nil, fmt.Errorf("setting SO_SNDBUFFORCE: %w", errors.Join(err, o.close()))
	}
	for _, index := range interfaces {
		o.links = append(o.links, unix.RawSockaddrLinklayer{Family: unix.AF_PACKET, Ifindex: int32(index)})
	}
	for i := range o.messages {
		o.prepare(i)
	}
	return o, nil
}

// prepare sets what is the same for all frames.
func (o *outbox) prepare(i int) {
	c := &o.controls[i]
	c.Level, c.Type = unix.SOL_SOCKET, unix.SCM_TXTIME
	c.SetLen(int(unsafe.Sizeof(*c)))
	m := &o.messages[i]
	m.Namelen = unix.SizeofSockaddrLinklayer
	m.Iov = &o.iovs[i]
	m.SetIovlen(1)
	m.Control = (*byte)(unsafe.Pointer(c))
	m.SetControllen(int(unsafe.Sizeof(*c)))
}

func (o *outbox) close() error { return unix.Close(o.fd) }

func (o *outbox) full() bool { return len(o.packets) == batch }

// add posts a packet, whose frame is complete, for one of the interfaces.
func (o *outbox) add(link int, k *packet.Packet, due int64) {
	i := len(o.packets)
	o.packets = append(o.packets, k)
	o.messages[i].Name = (*byte)(unsafe.Pointer(&o.links[link]))
	o.iovs[i].Base = &k.Frame[0]
	o.iovs[i].SetLen(len(k.Frame))
	o.controls[i].due = due
}

// due is when the host is to have the packet of that number.
func (o *outbox) due(i int) int64 { return o.controls[i].due }

// send gives the posted packets to the kernel, and returns how many frames the
// kernel did not take. The packets stay in the outbox until they are cleared.
func (o *outbox) send() (lost int64) {
	for at := 0; at < len(o.packets); {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(o.fd), uintptr(unsafe.Pointer(&o.messages[at])), uintptr(len(o.packets)-at), unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 {
			lost++
			n = 1 // it is the first frame that failed
		}
		at += int(n)
	}
	return lost
}

// clear empties the outbox.
func (o *outbox) clear() {
	clear(o.packets)
	o.packets = o.packets[:0]
}
