package role

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// RTT is what was measured of one connection.
type RTT struct {
	Src, Dst netip.AddrPort // of the host that sent, and of the one that acknowledged
	Least    time.Duration  // wall time, to the microsecond
}

const (
	// timedSegments is how many segments a connection is measured by, one after
	// the other. They are far too few for a request, so that the server never
	// answers.
	timedSegments = 5
	// RTTsToTime is how many round trips [Hosts.BaseRTT] takes for a connection, with
	// that of the handshake.
	RTTsToTime = timedSegments + 1
	// ackWait is how often to look whether a segment is acknowledged.
	ackWait = 100 * time.Microsecond
)

// BaseRTT measures round-trip times of data on an idle lab: for every pair
// (sender, receiver) it opens a connection, sends some segments, one after
// another, and returns what the kernel says of the fastest of them, since what
// disturbs one only adds to it. The times hold no scheduling delay of a
// process: the kernels themselves answer.
func (h *Hosts) BaseRTT(pairs [][2]int, rtts *[]RTT) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.server == nil {
		return errNotServing
	}
	for _, p := range pairs {
		rtt, err := h.ends.timeOne(h.ctx, p[0], p[1])
		if err != nil {
			return fmt.Errorf("measuring the base RTT: %w", err)
		}
		*rtts = append(*rtts, rtt)
	}
	return nil
}

// timeOne measures a connection of its own.
func (e ends) timeOne(ctx context.Context, sender, receiver int) (RTT, error) {
	c, err := e.connect(ctx, "tcp4", sender, e.server(receiver, 0))
	if err != nil {
		return RTT{}, err
	}
	defer c.Close()
	conn, ok := c.(*net.TCPConn)
	if !ok {
		return RTT{}, fmt.Errorf("%T is no TCP connection", c)
	}
	// The end is a reset: to the server that is no broken request, and the
	// connection leaves nothing behind.
	if err := conn.SetLinger(0); err != nil {
		return RTT{}, err
	}
	for range timedSegments {
		if _, err := conn.Write([]byte{0}); err != nil {
			return RTT{}, err
		}
		if err := awaitACK(ctx, conn); err != nil {
			return RTT{}, err
		}
	}
	info, err := tcpInfo(conn)
	if err != nil {
		return RTT{}, err
	}
	return RTT{
		Src:   conn.LocalAddr().(*net.TCPAddr).AddrPort(),
		Dst:   conn.RemoteAddr().(*net.TCPAddr).AddrPort(),
		Least: time.Duration(info.Min_rtt) * time.Microsecond,
	}, nil
}

// awaitACK waits until all that was written is acknowledged.
func awaitACK(ctx context.Context, conn *net.TCPConn) error {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errors.New("no acknowledgment"))
	defer cancel()
	look := time.NewTicker(ackWait)
	defer look.Stop()
	for {
		info, err := tcpInfo(conn)
		if err != nil {
			return err
		}
		if info.Unacked == 0 && info.Notsent_bytes == 0 {
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("to %v: %w", conn.RemoteAddr(), context.Cause(ctx))
		}
	}
}

// tcpInfo is what the kernel knows of a connection.
func tcpInfo(conn *net.TCPConn) (info *unix.TCPInfo, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("reaching the socket: %w", err)
	}
	cerr := raw.Control(func(fd uintptr) {
		info, err = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
	})
	if err := errors.Join(cerr, err); err != nil {
		return nil, fmt.Errorf("reading TCP_INFO: %w", err)
	}
	return info, nil
}
