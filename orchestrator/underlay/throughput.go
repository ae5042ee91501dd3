package underlay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
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
		return 0, fmt.Errorf("%w: do firewalls let TCP pass between the machines?", err)
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
