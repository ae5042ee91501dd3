package underlay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// accept takes all that comes, and answers with the number of bytes at the end of each
// connection.
func accept(tcp *net.TCPListener) {
	for {
		conn, err := tcp.AcceptTCP()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			n, _ := io.Copy(io.Discard, conn) // what came until an error counts, too
			_, _ = fmt.Fprintln(conn, n)
		}()
	}
}

// Throughput is how many bits per second one TCP connection carries to the machine whose
// reflector is at an address, over that time.
func Throughput(ctx context.Context, to netip.AddrPort, over time.Duration) (float64, error) {
	bits, err := throughput(ctx, to, over)
	if err != nil {
		return 0, fmt.Errorf("measure the throughput to %s: %w", to, err)
	}
	return bits, nil
}

func throughput(ctx context.Context, to netip.AddrPort, over time.Duration) (float64, error) {
	var d net.Dialer
	ctx, cancel := context.WithTimeout(ctx, over+dialWait)
	defer cancel()
	c, err := d.DialContext(ctx, "tcp4", to.String())
	if err != nil {
		return 0, err
	}
	conn := c.(*net.TCPConn)
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	block := make([]byte, 1<<17)
	begun := time.Now()
	for time.Since(begun) < over {
		if _, err := conn.Write(block); err != nil {
			return 0, err
		}
	}
	if err := conn.CloseWrite(); err != nil {
		return 0, err
	}
	var n int64
	if _, err := fmt.Fscan(conn, &n); err != nil {
		return 0, err
	}
	return 8 * float64(n) / time.Since(begun).Seconds(), nil
}

// dialWait is how long the other machine may take to answer.
const dialWait = 5 * time.Second

// MTU is the size of the largest packet, in bytes with its IP header, that the path to an
// address of another machine takes, as far as this machine's kernel can tell: its
// interface's, or what routers on the way have said.
func MTU(to netip.AddrPort) (int, error) {
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		return 0, fmt.Errorf("find the MTU towards %s: %w", to, err)
	}
	defer conn.Close()
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var mtu int
	if cerr := raw.Control(func(fd uintptr) { mtu, err = unix.GetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU) }); cerr != nil || err != nil {
		return 0, fmt.Errorf("find the MTU towards %s: %w", to, errors.Join(cerr, err))
	}
	return mtu, nil
}
