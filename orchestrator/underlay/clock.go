package underlay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offset is how a machine's CLOCK_MONOTONIC stands to another's.
type Offset struct {
	Ahead time.Duration // of this machine before the other
	RTT   time.Duration // the least round-trip time that was seen. Ahead is wrong by half of it at most.
}

// Bound is how wrong the offset can be: the two ways of the fastest round trip take
// anything from nothing to all of its time.
func (o Offset) Bound() time.Duration { return o.RTT / 2 }

// A probe is a number and three times, of 8 bytes each: when it left, when it reached the
// other machine, and when it left there. Times are CLOCK_MONOTONIC in ns.
const (
	sent      = 8
	reached   = 16
	returned  = 24
	probeSize = 32
)

func monotonic() int64 {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) // it cannot fail: see clock_gettime(2)
	return now.Nano()
}

// stamp has the kernel tell when a packet came in, whenever somebody wakes up to read it.
func stamp(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	cerr := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	return errors.Join(cerr, os.NewSyscallError("setsockopt", err))
}

// receive reads a packet, and tells when it came in.
func receive(conn *net.UDPConn, packet []byte) (n int, at int64, from netip.AddrPort, err error) {
	var control [128]byte
	n, c, _, from, err := conn.ReadMsgUDPAddrPort(packet, control[:])
	at = monotonic()
	if err != nil {
		return n, at, from, err
	}
	messages, err := unix.ParseSocketControlMessage(control[:c])
	if err != nil {
		return n, at, from, err
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			// It is a time of day. What that is ahead of CLOCK_MONOTONIC is read now.
			stamped := (*unix.Timespec)(unsafe.Pointer(&m.Data[0])).Nano()
			at = stamped - (time.Now().UnixNano() - monotonic())
		}
	}
	return n, at, from, nil
}

// answer returns every probe at once.
func answer(udp *net.UDPConn) {
	packet := make([]byte, 1<<16)
	for {
		n, now, from, err := receive(udp, packet)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil || n < probeSize:
			continue
		}
		binary.BigEndian.PutUint64(packet[reached:], uint64(now))
		binary.BigEndian.PutUint64(packet[returned:], uint64(monotonic()))
		_, _ = udp.WriteToUDPAddrPort(packet[:probeSize], from) // who does not get it asks again
	}
}

// How a clock is compared: with as many probes as it takes for some to meet no other
// packet or program on their way.
const (
	probes    = 100
	probeWait = 200 * time.Millisecond
	enough    = 10 // answers that must have come
)

// Compare compares this machine's clock with that of the machine whose reflector is at an
// address, by the probe that was the fastest (as NTP does, RFC 5905, section 8).
func Compare(ctx context.Context, with netip.AddrPort) (Offset, error) {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(with))
	if err != nil {
		return Offset{}, fmt.Errorf("compare the clock with %s: %w", with, err)
	}
	defer conn.Close()
	if err := stamp(conn); err != nil {
		return Offset{}, fmt.Errorf("compare the clock with %s: %w", with, err)
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	best, answers := Offset{RTT: time.Hour}, 0
	for i := range probes {
		o, err := probe(conn, uint64(i), probeSize)
		switch {
		case ctx.Err() != nil:
			return Offset{}, context.Cause(ctx)
		case errors.Is(err, os.ErrDeadlineExceeded):
			if i-answers > probes/2/enough && answers == 0 {
				return Offset{}, fmt.Errorf("compare the clock with %s: no probe was answered: do firewalls let UDP pass between the machines?", with)
			}
			continue
		case err != nil:
			return Offset{}, fmt.Errorf("compare the clock with %s: %w", with, err)
		}
		if answers++; o.RTT > 0 && o.RTT < best.RTT { // none is if somebody has set a clock meanwhile
			best = o
		}
	}
	if answers < enough {
		return Offset{}, fmt.Errorf("compare the clock with %s: %d of %d probes were answered", with, answers, probes)
	}
	return best, nil
}

// probe sends one probe of that many bytes, and waits for its answer.
func probe(conn *net.UDPConn, number uint64, size int) (Offset, error) {
	packet := make([]byte, size)
	binary.BigEndian.PutUint64(packet, number)
	begun := monotonic()
	binary.BigEndian.PutUint64(packet[sent:], uint64(begun))
	if err := conn.SetReadDeadline(time.Now().Add(probeWait)); err != nil {
		return Offset{}, err
	}
	if _, err := conn.Write(packet); err != nil {
		return Offset{}, err
	}
	for {
		n, now, _, err := receive(conn, packet)
		if err != nil {
			return Offset{}, err
		}
		if n < probeSize || binary.BigEndian.Uint64(packet) != number {
			continue // a late answer to another one
		}
		there := int64(binary.BigEndian.Uint64(packet[reached:]))
		back := int64(binary.BigEndian.Uint64(packet[returned:]))
		return Offset{
			Ahead: time.Duration((begun - there + now - back) / 2),
			RTT:   time.Duration(now - begun - (back - there)),
		}, nil
	}
}
