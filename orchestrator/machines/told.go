package machines

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
)

// toldConn is a connection through a command such as ssh. What the command said before it
// ended is with the errors of reads alone, and whether a read or a write fails first is
// chance: so a write that fails says what a read says.
type toldConn struct {
	net.Conn
	mu   sync.Mutex
	said error // of the first read that failed
}

// telling has the connections of a dialer be [toldConn].
func telling(dial func(context.Context, string, string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &toldConn{Conn: conn}, nil
	}
}

// Read keeps what went wrong for the writes. Errors: those of the connection.
func (c *toldConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.said == nil {
			c.said = err
		}
	}
	return n, err
}

// Write sends to the command. Errors: that of a read, where the command has ended.
func (c *toldConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if !errors.Is(err, syscall.EPIPE) {
		return n, err
	}
	if _, ended := c.Read(make([]byte, 1)); ended == nil {
		return n, err // it says more, so it is not the end of it
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return n, c.said
}

// CloseWrite ends what is sent, and lets what is read go on. Hijacked streams need it.
func (c *toldConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
