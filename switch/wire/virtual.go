//go:build linux

package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
)

// In virtual time a turn of the loop costs tens of microseconds of the machine's time
// and none of the lab's, so turns should be few. A packet that a host sends now changes
// nothing before it has crossed its link. The fabric may therefore run ahead by that
// long before the loop looks at the rings again. The kernel keeps the frames that are
// delivered meanwhile until their time. This is conservative synchronisation, with the
// links' delay as its lookahead: no event runs before all that it depends on is known,
// and everything happens at the same lab time as if the loop turned for each packet.

// runAhead is the loop on a virtual clock.
func (d *driver) runAhead(done <-chan struct{}) {
	for {
		r := d.clock.readVirtual()
		until := r.lab + d.ahead
		d.doTask()
		frames := 0
		for i := range d.ports {
			frames += d.drain(r, i)
		}
		next, pending := d.loop.Next()
		due := pending && next <= until
		d.loop.RunUntil(until)
		d.flush()
		select {
		case <-done:
			return
		default:
		}
		if d.ahead > 0 && (frames > 0 || due) {
			d.sleep(until)
		} else {
			d.poll(r.lab)
		}
	}
}

// lookahead is how far a fabric may run ahead: at most the time in which a host
// sends a quarter of a ring of so many bytes. A slot is at most about twice as large
// as a full frame, so no ring is ever more than half full.
func lookahead(n *fabric.Network, spec fabric.Spec, ring int) time.Duration {
	ahead := n.Lookahead()
	for i := range spec.Hosts {
		ahead = min(ahead, spec.FastestUplink(i).Time(ring/4))
	}
	return ahead
}

// drain gives all frames of one ring to the fabric.
func (d *driver) drain(r reading, from int) int {
	frames := 0
	for n := burst; n == burst; frames += n {
		n = d.receive(r, from)
	}
	return frames
}

// post has the kernel send a packet by a port in time.
func (d *driver) post(due time.Duration, by int, k *packet.Packet) {
	if len(d.out.packets) == batch {
		d.flush()
	}
	d.out.add(by, k, d.tally.start+int64(due))
}

// flush hands the kernel what was posted, and notes what is late already.
func (d *driver) flush() {
	if len(d.out.packets) == 0 {
		return
	}
	d.tally.unsent += d.out.send()
	now := d.tally.start + int64(d.clock.now())
	for i, k := range d.out.packets {
		d.tally.lateness.Note(time.Duration(now - d.out.controls[i].due))
		d.pool.Put(k)
	}
	clear(d.out.packets)
	d.out.packets = d.out.packets[:0]
}

// sleep returns when it is that lab time, and at once if it was.
func (d *driver) sleep(until time.Duration) {
	wake := unix.NsecToTimespec(d.tally.start + int64(until))
	// A signal that cuts the sleep short makes one more turn.
	_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &wake, nil)
}

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

// add posts a packet, whose frame is complete, for one of the interfaces.
func (o *outbox) add(link int, k *packet.Packet, due int64) {
	i := len(o.packets)
	o.packets = append(o.packets, k)
	o.messages[i].Name = (*byte)(unsafe.Pointer(&o.links[link]))
	o.iovs[i].Base = &k.Frame[0]
	o.iovs[i].SetLen(len(k.Frame))
	o.controls[i].due = due
}

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
