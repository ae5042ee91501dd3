package live

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/collectors/meter"
	"aqmlab/trafficgen/traffic"
)

// discardSize is how much payload one call takes off a socket at most.
const discardSize = 1 << 20

// wakeAt is how much payload must have come for the kernel to wake a reader, if so
// much is to come. A wake-up for each packet would cost hosts most of their
// CPU time, and in virtual time most of the run. It is a fourth of the receive
// buffer that a connection begins with (tcp(7), tcp_rmem), so that the window stays
// open.
const wakeAt = 32 << 10

// connection is a client's connection to a server; one flow at a time uses it.
type connection struct {
	*socket
	ends ends
	busy bool // guarded by the pool's lock

	ask    [requestSize]byte
	answer [responseSize]byte

	of      meter.For                       // what the payload is for
	arrived func(of meter.For, bytes int64) // is told of payload

	before  retransmits   // what this end had sent again before the flow
	opening time.Duration // how long the handshake took, where it counts
	sent    time.Time     // just before the last request
	began   int64         // when the server answered it, by the system's monotonic clock
	least   int           // payload for which the kernel wakes us; 0: that of a new socket, 1
	left    int64         // payload of the flow still to come
	stops   bool          // the server may stop before all has come
	err     error         // what ended the last discard
	discard func(fd uintptr) (done bool)
	reading discarding
}

// send writes a request for payload that is for something.
func (c *connection) send(q request, of meter.For) error {
	q.put(&c.ask)
	c.left, c.stops, c.of = q.bytes, q.lasts > 0, of
	if c.opening == 0 { // else the handshake is the flow's
		c.before = c.retransmits()
	}
	err := c.setDSCP(q.dscp(0))
	if err == nil && c.least > 1 { // the answer's header is less
		c.least = 1
		err = c.set("SO_RCVLOWAT", unix.SOL_SOCKET, unix.SO_RCVLOWAT, c.least)
	}
	c.sent = time.Now()
	if err != nil {
		return err
	}
	if _, err := c.Write(c.ask[:]); err != nil {
		return fmt.Errorf("sending the request: %w", err)
	}
	return nil
}

// receive reads the response to what was sent last. c.left says how much of
// the payload has not come.
func (c *connection) receive() (err error) {
	if _, err := io.ReadFull(c, c.answer[:]); err != nil {
		return fmt.Errorf("reading the response: %w", err)
	}
	if c.began, err = parseAnswer(&c.answer, &c.ask); err != nil {
		return fmt.Errorf("reading the response: %w", err)
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
// or an error.
//
// A short read is not the end: the peer may have closed behind the last byte before we
// read it, and the poller would not tell a second time. The kernel says so with what it
// has left, but for a reset: so one that woke us with less than we wait for is read again.
func (c *connection) discardReady(fd uintptr) (done bool) {
	for c.left > 0 {
		n, errno := c.reading.discard(fd, min(c.left, discardSize))
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			c.err = c.wait(int(fd))
			return c.err != nil
		case errno != 0:
			c.err = os.NewSyscallError("recvmsg", errno)
			return true
		case n == 0:
			if !c.stops {
				c.err = io.ErrUnexpectedEOF
			}
			return true
		}
		c.left -= n
		c.arrived(c.of, n)
		if c.left > 0 && c.reading.emptied && n >= int64(c.least) && c.least > 1 {
			c.err = c.wait(int(fd))
			return c.err != nil
		}
	}
	return true
}

// wait readies the socket for waiting for what is left. The kernel looks at once
// whether that much has come meanwhile.
func (c *connection) wait(fd int) error {
	least := int(min(c.left, wakeAt))
	if c.least == least {
		return nil
	}
	c.least = least
	return os.NewSyscallError("setsockopt", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, c.least))
}

// ends are the two hosts of a connection, and what they speak on it.
type ends struct{ client, server, transport int }

func endsOf(f *traffic.Flow) ends { return ends{f.Client, f.Server, f.Transport} }

func (e ends) String() string { return fmt.Sprintf("host %d to host %d", e.client, e.server) }

// pool holds the connections between each pair of hosts in the order in which
// they were opened.
type pool struct {
	mu   sync.Mutex
	open openSet
	list map[ends][]*connection
}

// take books the first idle connection between two hosts, or returns nil.
func (p *pool) take(e ends) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.list[e] {
		if !c.busy {
			c.busy = true
			return c
		}
	}
	return nil
}

// add appends a connection, or closes it and reports false after closeAll.
func (p *pool) add(c *connection) bool {
	if !p.open.add(c) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[c.ends] = append(p.list[c.ends], c)
	return true
}

// put makes a connection idle.
func (p *pool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.busy = false
}

// drop closes and forgets a connection that failed.
func (p *pool) drop(c *connection) {
	p.open.close(c)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list[c.ends] = slices.DeleteFunc(p.list[c.ends], func(o *connection) bool { return o == c })
}

// openSet is what must be closed at the end. The zero value is ready to use.
type openSet struct {
	mu      sync.Mutex
	closed  bool
	members map[io.Closer]struct{}
}

// add remembers c, or closes it and reports false when the end has come.
func (s *openSet) add(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		c.Close()
		return false
	}
	if s.members == nil {
		s.members = map[io.Closer]struct{}{}
	}
	s.members[c] = struct{}{}
	return true
}

// close closes c and forgets it.
func (s *openSet) close(c io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.members, c)
	c.Close()
}

// closeAll closes all members, and from now on whatever is added.
func (s *openSet) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.members {
		c.Close()
	}
	clear(s.members)
}
