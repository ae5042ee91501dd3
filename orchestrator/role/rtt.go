package role

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// RTT is what was measured of one connection.
type RTT struct {
	Src, Dst netip.AddrPort // of the host that sent, and of the one that acknowledged
	Least    time.Duration  // wall time, to the microsecond
}

const (
	// timedSegments is how many segments a connection is measured by at least, one after
	// the other. Where round trips take microseconds, more disturbs them: then there are
	// up to mostSegments, within moreFor. These are too few for a request, so that a
	// server never answers.
	timedSegments = 5
	mostSegments  = 60
	moreFor       = time.Millisecond
	// RTTsToTime is how many round trips [Hosts.BaseRTT] takes for a connection at least,
	// with that of the handshake.
	RTTsToTime = timedSegments + 1
	// looks is how often to look at once whether a segment is acknowledged, which takes some
	// tens of microseconds. Who sleeps lets the caches of its
	// CPU go cold, and makes the kernel's part of the next round trip longer. It is a
	// number, because virtual time stands still meanwhile. Later looks are so many in a
	// round trip, and no closer than that.
	looks    = 50
	ackLooks = 16
	ackWait  = 100 * time.Microsecond
)

// Connections whose round trips are long on the wall are measured together, since a lab with
// a large dilation is as good as idle between two segments.
const (
	timedApart    = 2 * time.Millisecond // of their segments
	timedTogether = 64                   // connections at most
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
	all := make([]RTT, len(pairs))
	if err := h.ends.timeAll(h.ctx, pairs, all); err != nil {
		return fmt.Errorf("measuring the base RTT: %w", err)
	}
	*rtts = append(*rtts, all...)
	return nil
}

// silent is a socket of a host to which one may connect and which nobody reads: what
// arrives wakes no process up, which would take the kernel more time than the packet.
func (e ends) silent(host int) (fd int, at netip.AddrPort, err error) {
	fd, err = in(e, host, func() (int, error) {
		return unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	})
	if err != nil {
		return -1, at, fmt.Errorf("opening a socket: %w", err)
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: e[host].Addr.As4()})
	if err == nil {
		err = unix.Listen(fd, 1)
	}
	name, nameErr := unix.Getsockname(fd)
	if err := cmp.Or(err, nameErr); err != nil {
		return -1, at, fmt.Errorf("listening: %w", errors.Join(err, unix.Close(fd)))
	}
	return fd, netip.AddrPortFrom(e[host].Addr, uint16(name.(*unix.SockaddrInet4).Port)), nil
}

// timeAll measures the first connection by itself. How long its round trips take says how
// many others are measured together.
func (e ends) timeAll(ctx context.Context, pairs [][2]int, rtts []RTT) (err error) {
	if len(pairs) == 0 {
		return nil
	}
	if rtts[0], err = e.timeOne(ctx, pairs[0][0], pairs[0][1]); err != nil {
		return err
	}
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(together(rtts[0].Least))
	for i := 1; i < len(pairs) && ctx.Err() == nil; i++ {
		all.Go(func() (err error) {
			rtts[i], err = e.timeOne(ctx, pairs[i][0], pairs[i][1])
			return err
		})
		if together(rtts[0].Least) > 1 {
			time.Sleep(timedApart)
		}
	}
	return all.Wait()
}

// together is how many connections of such an RTT, in wall time, are measured together.
func together(rtt time.Duration) int {
	return int(min(max(rtt/timedApart, 1), timedTogether))
}

// timeOne measures a connection of its own. If another process carries the receiver, it
// leads to the receiver's server.
func (e ends) timeOne(ctx context.Context, sender, receiver int) (RTT, error) {
	to := e.server(receiver, 0)
	if !e[receiver].Elsewhere {
		fd, at, err := e.silent(receiver)
		if err != nil {
			return RTT{}, err
		}
		defer func() { _ = unix.Close(fd) }()
		to = at
	}
	c, err := e.connect(ctx, "tcp4", sender, to)
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
	begun := time.Now()
	for i := 0; i < timedSegments || i < mostSegments && time.Since(begun) < moreFor; i++ {
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
	info, err := tcpInfo(conn)
	if err != nil {
		return err
	}
	look := time.NewTicker(max(ackWait, time.Duration(info.Min_rtt)*time.Microsecond/ackLooks))
	defer look.Stop()
	for n := 0; ; n++ {
		if info, err = tcpInfo(conn); err != nil {
			return err
		}
		if info.Unacked == 0 && info.Notsent_bytes == 0 {
			return nil
		}
		if n < looks {
			continue
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
