//go:build linux

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/switch/packet"
)

// outbox keeps frames for any of a switch's interfaces, and sends them with one system
// call. That spares the CPUs of the hosts, too: they find the next frame there when they
// come for it, and need not be interrupted again.
type outbox struct {
	fds      []int            // sockets, of which the next is used where one has no room
	fd       int              // the number of the one that is used now
	own      []int            // sockets of the interfaces, for frames that are alone; none on a virtual clock
	packets  []*packet.Packet // added and not yet cleared; at most as many as messages
	due      []time.Duration  // lab time, of each
	by       []int            // its interface, by its number
	links    []unix.RawSockaddrLinklayer
	messages []message
	iovs     []unix.Iovec
	controls []control // of a virtual clock; else none
}

// message is struct mmsghdr of sendmmsg(2).
type message struct {
	unix.Msghdr
	sent uint32 // bytes, set by the kernel
}

// newOutbox makes one for so many frames to interfaces of these indices. It has no sockets
// yet.
func newOutbox(interfaces []int, frames int) *outbox {
	o := &outbox{
		packets: make([]*packet.Packet, 0, frames), due: make([]time.Duration, 0, frames), by: make([]int, 0, frames),
		messages: make([]message, frames), iovs: make([]unix.Iovec, frames),
	}
	for _, index := range interfaces {
		o.links = append(o.links, unix.RawSockaddrLinklayer{Family: unix.AF_PACKET, Ifindex: int32(index)})
	}
	for i := range o.messages {
		m := &o.messages[i]
		m.Namelen = unix.SizeofSockaddrLinklayer
		m.Iov = &o.iovs[i]
		m.SetIovlen(1)
	}
	return o
}

// open makes the sockets. The kernel then sends frames as soon as it has them, or, if so
// asked, in time. What sends frames of all interfaces is one socket, or where that cannot
// have much room, one for each interface.
func (o *outbox) open(inTime bool) error {
	enough := false
	for i := 0; i < len(o.links) && !enough; i++ {
		fd, err := sender(inTime)
		if err != nil {
			return err
		}
		o.fds = append(o.fds, fd)
		if enough, err = allowPending(fd); err != nil {
			return err
		}
	}
	if inTime {
		o.addControls()
		return nil
	}
	return o.openOwn()
}

// openOwn makes the sockets of the interfaces.
func (o *outbox) openOwn() error {
	for i := range o.links {
		fd, err := sender(false)
		if err != nil {
			return err
		}
		o.own = append(o.own, fd)
		if _, err := allowPending(fd); err != nil {
			return err
		}
		if err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: int(o.links[i].Ifindex)}); err != nil {
			return fmt.Errorf("binding a packet socket to send by: %w", err)
		}
	}
	return nil
}

// sockets are all that there are.
func (o *outbox) sockets() []int { return append(o.fds[:len(o.fds):len(o.fds)], o.own...) }

// sender makes a socket to send by. It is for no protocol, so nothing arrives.
func sender(inTime bool) (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("opening a packet socket to send by: %w", err)
	}
	if inTime {
		// struct sock_txtime of linux/net_tstamp.h: the clock, and no flags.
		err = unix.SetsockoptString(fd, unix.SOL_SOCKET, unix.SO_TXTIME, string(binary.NativeEndian.AppendUint64(nil, unix.CLOCK_MONOTONIC)))
	} else {
		err = unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1)
	}
	if err != nil {
		return 0, fmt.Errorf("setting when a packet socket sends: %w", errors.Join(err, unix.Close(fd)))
	}
	return fd, nil
}

// addControls has each message tell when its frame is to be sent.
func (o *outbox) addControls() {
	o.controls = make([]control, len(o.messages))
	for i := range o.messages {
		c, m := &o.controls[i], &o.messages[i]
		c.Level, c.Type = unix.SOL_SOCKET, unix.SCM_TXTIME
		c.SetLen(int(unsafe.Sizeof(*c)))
		m.Control = (*byte)(unsafe.Pointer(c))
		m.SetControllen(int(unsafe.Sizeof(*c)))
	}
}

// pendingMost bounds the memory, in bytes, of frames that were sent and that the hosts'
// stacks have not taken yet. It is more than their queues may hold before the stack
// (net.core.netdev_max_backlog, usually 1000 frames a CPU), so that these queues are the
// bound, as they are of a bridge. In virtual time a fabric runs ahead of its hosts by at
// most a quarter of a ring for each of them.
const pendingMost = 256 << 20

// allowPending gives a socket that room, or as much as it may have, which is not enough.
func allowPending(fd int) (enough bool, err error) {
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, pendingMost)
	enough = err == nil
	if errors.Is(err, unix.EPERM) { // root of a user namespace gets what everybody may have
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, pendingMost)
	}
	if err != nil {
		return false, fmt.Errorf("setting the send buffer of a packet socket: %w", err)
	}
	return enough, nil
}

// control is the control message SCM_TXTIME.
type control struct {
	unix.Cmsghdr
	due int64 // CLOCK_MONOTONIC, in nanoseconds
}

// full tells whether it has to be sent and cleared before more is added.
func (o *outbox) full() bool { return len(o.packets) == cap(o.packets) }

// add adds a packet, whose frame is complete, for one of the interfaces. Lab time zero in
// nanoseconds of CLOCK_MONOTONIC is for those that send in time.
func (o *outbox) add(k *packet.Packet, by int, due time.Duration, zero int64) {
	i := len(o.packets)
	o.packets, o.due, o.by = append(o.packets, k), append(o.due, due), append(o.by, by)
	o.messages[i].Name = (*byte)(unsafe.Pointer(&o.links[by]))
	o.iovs[i].Base = &k.Frame[0]
	o.iovs[i].SetLen(len(k.Frame))
	if o.controls != nil {
		o.controls[i].due = zero + int64(due)
	}
}

// send gives the packets to the kernel, in their order, and returns how many frames the
// kernel did not take.
func (o *outbox) send() (lost int64) {
	full := 0 // sockets, one after the other
	for at := 0; at < len(o.packets); {
		n, errno := o.call(at)
		switch {
		case errno == 0:
			full = 0
		case errno == unix.EAGAIN && full+1 < len(o.fds):
			full++
			o.fd = (o.fd + 1) % len(o.fds)
			n = 0
		default: // it is the first frame that failed
			full = 0
			lost++
			n = 1
		}
		at += n
	}
	return lost
}

// call sends some of the packets from one on, and returns how many. A frame that is alone
// leaves by the socket of its interface: the kernel need not read where it goes. System calls
// are raw: they do not block, and the scheduler need not hear of them.
func (o *outbox) call(from int) (int, syscall.Errno) {
	left := len(o.packets) - from
	if left == 1 && o.own != nil {
		iov := &o.iovs[from]
		_, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(o.own[o.by[from]]), uintptr(unsafe.Pointer(iov.Base)), uintptr(iov.Len), unix.MSG_DONTWAIT, 0, 0)
		if errno != unix.EAGAIN {
			return 1, errno
		}
	}
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(o.fds[o.fd]), uintptr(unsafe.Pointer(&o.messages[from])), uintptr(left), unix.MSG_DONTWAIT, 0, 0)
	return int(n), errno
}

// clear gives the packets back to their pool.
func (o *outbox) clear(pool *packet.Pool) {
	for _, k := range o.packets {
		pool.Put(k)
	}
	clear(o.packets)
	o.packets, o.due, o.by = o.packets[:0], o.due[:0], o.by[:0]
}
