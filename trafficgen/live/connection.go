package live

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen"
)

// sinkSize is how much payload one call takes off a socket at most.
const sinkSize = 1 << 20

// connection is a client's connection to a server; one flow at a time uses it.
type connection struct {
	*socket
	ends ends
	busy bool // guarded by the pool's lock

	head  [headerSize]byte
	sink  []byte        // names a length to the kernel; never read nor written
	bytes *atomic.Int64 // payload received over all connections

	left    int64 // payload of the flow still to come
	err     error // what ended the last discard
	discard func(fd uintptr) (done bool)
}

func newConnection(s *socket, e ends, sink []byte, bytes *atomic.Int64) *connection {
	c := &connection{socket: s, ends: e, sink: sink, bytes: bytes}
	c.discard = c.discardReady // bound once, not for every flow
	return c
}

// send writes the request of a flow and returns when it began to.
func (c *connection) send(f trafficgen.Flow) (time.Time, error) {
	h := header{dscp: uint8(f.Service), flow: uint64(f.ID), bytes: f.Bytes}
	h.put(&c.head)
	c.left = f.Bytes
	if err := c.setDSCP(h.dscp); err != nil {
		return time.Now(), err
	}
	sent := time.Now()
	if _, err := c.Write(c.head[:]); err != nil {
		return sent, fmt.Errorf("sending the request: %w", err)
	}
	return sent, nil
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

// discardReady takes off the socket what is there, without copying it
// (MSG_TRUNC, tcp(7)). It is done at the last byte or an error. A short read
// does not end it: the peer may have closed behind the last byte before we
// read it, and the poller would not tell a second time.
func (c *connection) discardReady(fd uintptr) (done bool) {
	for c.left > 0 {
		n, _, err := unix.Recvfrom(int(fd), c.sink[:min(c.left, int64(len(c.sink)))], unix.MSG_TRUNC)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return false
		case err == nil && n == 0:
			err = io.ErrUnexpectedEOF
		}
		if c.err = err; err != nil {
			return true
		}
		c.left -= int64(n)
		c.bytes.Add(int64(n))
	}
	return true
}
