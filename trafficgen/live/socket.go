package live

import (
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// options are those of a socket that we set.
type options struct {
	raw syscall.RawConn
	tos int // of what is sent: DSCP and ECN; -1: not known
}

// set sets a number, which the error calls by its name.
func (o *options) set(name string, level, option, value int) error {
	err := control(o.raw, func(fd int) error { return unix.SetsockoptInt(fd, level, option, value) })
	if err != nil {
		return fmt.Errorf("setting %s to %d: %w", name, value, err)
	}
	return nil
}

// setTOS classifies what the socket sends from now on.
func (o *options) setTOS(tos int) error {
	if o.tos == tos {
		return nil
	}
	if err := o.set("IP_TOS", unix.IPPROTO_IP, unix.IP_TOS, tos); err != nil {
		return err
	}
	o.tos = tos
	return nil
}

// socket is a TCP connection.
type socket struct {
	net.Conn
	options
	rate int64 // bytes a second that the kernel keeps to; 0: no limit
}

// newSocket prepares a connection: no waiting for more to send, no probes of
// the kernel's own on the link, and the congestion control asked for.
func newSocket(c net.Conn, congestionControl string) (*socket, error) {
	raw, err := rawConn(c)
	if err != nil {
		return nil, err
	}
	s := &socket{Conn: c, options: options{raw, -1}}
	if err := s.set("TCP_NODELAY", unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err != nil {
		return nil, err
	}
	if err := s.set("SO_KEEPALIVE", unix.SOL_SOCKET, unix.SO_KEEPALIVE, 0); err != nil {
		return nil, err
	}
	return s, setCongestionControl(raw, congestionControl)
}

// setDSCP classifies what the socket sends from now on. The kernel keeps the
// two ECN bits of the byte to itself.
func (s *socket) setDSCP(dscp uint8) error { return s.setTOS(int(dscp) << 2) }

// setRate bounds what the kernel sends a second, in bytes of payload; 0 lifts
// the bound.
func (s *socket) setRate(rate int64) error {
	if s.rate == rate {
		return nil
	}
	value := uint64(rate)
	if rate == 0 {
		value = math.MaxUint64
	}
	err := control(s.raw, func(fd int) error {
		return unix.SetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE, value)
	})
	if err != nil {
		return fmt.Errorf("setting SO_MAX_PACING_RATE to %d: %w", value, err)
	}
	s.rate = rate
	return nil
}

// setBacklog bounds the payload that the kernel takes without having sent it;
// 0 lifts the bound.
func (s *socket) setBacklog(bytes int) error {
	return s.set("TCP_NOTSENT_LOWAT", unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, bytes)
}

// drain returns when the kernel has sent, for the first time, all that was
// written. It leaves the socket with that backlog.
//
// With a bound of one byte the kernel takes the socket for writable only when
// nothing is left to be sent. poll(2) that says it is not also makes the kernel
// tell the network poller when it will be.
func (s *socket) drain(backlog int) error {
	if err := s.setBacklog(1); err != nil {
		return err
	}
	var failed error
	err := s.raw.Write(func(fd uintptr) (done bool) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(fds, 0)
		if err != nil && !errors.Is(err, unix.EINTR) {
			failed = os.NewSyscallError("poll", err)
		}
		return n > 0 || failed != nil
	})
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("waiting for the kernel to send: %w", err)
	}
	return s.setBacklog(backlog)
}

// unacknowledged is how many of the bytes written the other end has not acknowledged.
func (s *socket) unacknowledged() (n int, err error) {
	err = control(s.raw, func(fd int) (err error) {
		n, err = unix.IoctlGetInt(fd, unix.SIOCOUTQ)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reading what the kernel holds: %w", err)
	}
	return n, nil
}

// setCongestionControl chooses a socket's congestion control by name; an empty
// name leaves the host's default. On a listener it holds for what is accepted.
func setCongestionControl(raw syscall.RawConn, name string) error {
	if name == "" {
		return nil
	}
	err := control(raw, func(fd int) error {
		return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("congestion control %q is not in this kernel, which has %s: %w", name, knownCongestionControls(), err)
	case err != nil:
		return fmt.Errorf("setting congestion control %q: %w", name, err)
	}
	return nil
}

func knownCongestionControls() string {
	b, err := os.ReadFile("/proc/sys/net/ipv4/tcp_available_congestion_control")
	if err != nil {
		return "an unknown set"
	}
	return strings.TrimSpace(string(b))
}

// rawConn is the file descriptor behind a connection or a listener.
func rawConn(c any) (syscall.RawConn, error) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, fmt.Errorf("%T has no socket: want a TCP connection or listener of package net", c)
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("reaching the socket: %w", err)
	}
	return raw, nil
}

func control(raw syscall.RawConn, f func(fd int) error) error {
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
