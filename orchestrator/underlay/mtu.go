package underlay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Sizes of packets, in bytes with the IP header.
const (
	headers  = 20 + 8 // of IPv4 and UDP
	leastMTU = 576    // that every path has to take (RFC 1122, section 3.3.3)
	mostMTU  = 1<<16 - 1
)

// sends is how often a probe is sent before it is taken for lost.
const sends = 3

// ErrNoAnswer is the error for an address from which no probe comes back.
var ErrNoAnswer = errors.New("no probe was answered")

// MTU is the size of the largest packet, in bytes with its IP header, that comes to the
// reflector at an address of another machine without being cut up. What this machine's
// kernel believes is tried first: the MTU of its interface, or what a router has said.
func MTU(ctx context.Context, to netip.AddrPort) (int, error) {
	mtu, err := largest(ctx, to)
	if err != nil {
		return 0, fmt.Errorf("find the MTU towards %s: %w", to, err)
	}
	return mtu, nil
}

func largest(ctx context.Context, to netip.AddrPort) (int, error) {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	believed, err := forbidFragments(conn)
	if err != nil {
		return 0, err
	}
	p := &path{ctx: ctx, conn: conn}
	if passes, err := p.passes(leastMTU); err != nil || !passes {
		return 0, errors.Join(err, fmt.Errorf("%w: do firewalls let UDP port %d pass between the machines?", ErrNoAnswer, to.Port()))
	}
	most := min(believed, mostMTU)
	if passes, err := p.passes(most); err != nil || passes {
		return most, err
	}
	least := leastMTU
	for least+1 < most {
		size := (least + most) / 2
		passes, err := p.passes(size)
		if err != nil {
			return 0, err
		}
		if passes {
			least = size
		} else {
			most = size
		}
	}
	return least, nil
}

// forbidFragments has the connection's packets be sent whole or not at all, and tells the
// MTU that the kernel believes in.
func forbidFragments(conn *net.UDPConn) (mtu int, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	cerr := raw.Control(func(fd uintptr) {
		if err = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE); err == nil {
			mtu, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU)
		}
	})
	return mtu, errors.Join(cerr, os.NewSyscallError("setsockopt", err))
}

// path is the way to another machine's reflector.
type path struct {
	ctx  context.Context
	conn *net.UDPConn
	sent uint64
}

// passes tells whether a packet of that size gets there.
func (p *path) passes(size int) (bool, error) {
	for range sends {
		p.sent++
		_, err := probe(p.conn, p.sent, size-headers)
		switch {
		case p.ctx.Err() != nil:
			return false, context.Cause(p.ctx)
		case errors.Is(err, unix.EMSGSIZE):
			return false, nil
		case err == nil:
			return true, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return false, err
		}
	}
	return false, nil
}
