package live

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen"
)

// discardSize is how much payload one call takes off a socket at most.
const discardSize = 1 << 20

// connection is a client's connection to a server; one flow at a time uses it.
type connection struct {
	*socket
	ends ends
	busy bool // guarded by the pool's lock

	head  [headerSize]byte
	bytes *atomic.Int64 // payload received over all connections

	sent    time.Time // just before the last request
	left    int64     // payload of the flow still to come
	err     error     // what ended the last discard
	discard func(fd uintptr) (done bool)
}

func newConnection(s *socket, e ends, bytes *atomic.Int64) *connection {
	c := &connection{socket: s, ends: e, bytes: bytes}
	c.discard = c.discardReady // bound once, not for every flow
	return c
}

// send writes the request of a flow.
func (c *connection) send(f trafficgen.Flow) error {
	h := header{dscp: uint8(f.Service), flow: uint64(f.ID), bytes: f.Bytes}
	h.put(&c.head)
	c.left = f.Bytes
	err := c.setDSCP(h.dscp)
	c.sent = time.Now()
	if err != nil {
		return err
	}
	if _, err := c.Write(c.head[:]); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	return nil
}

// receive reads the response to what was sent last. c.left says how much of
// the payload has not come.
func (c *connection) receive() error {
	sent := c.head
	if _, err := io.ReadFull(c, c.head[:]); err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	if c.head != sent {
		return fmt.Errorf("reading the response: %w: it is not the request's", errProtocol)
	}
	if err := c.raw.Read(c.discard); err != nil {
		return fmt.Errorf("reading the payload: %w", err)
	}
	if c.err != nil {
		return fmt.Errorf("reading the payload: %w", c.err)
	}
	return nil
}

// discardReady takes off the socket what is there and is done at the last byte
// or an error. With MSG_TRUNC the kernel throws the bytes away and needs no
// buffer (tcp(7)), which saves a quarter of the CPU time of many flows at once on
// loopback. The call is made by hand because unix.Recvfrom allocates.
//
// A short read is not the end: the peer may have closed behind the last byte
// before we read it, and the poller would not tell a second time.
func (c *connection) discardReady(fd uintptr) (done bool) {
	for c.left > 0 {
		n, _, errno := unix.Syscall6(unix.SYS_RECVFROM, fd, 0, uintptr(min(c.left, discardSize)), unix.MSG_TRUNC, 0, 0)
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			return false
		case errno != 0:
			c.err = os.NewSyscallError("recvfrom", errno)
			return true
		case n == 0:
			c.err = io.ErrUnexpectedEOF
			return true
		}
		c.left -= int64(n)
		c.bytes.Add(int64(n))
	}
	return true
}
