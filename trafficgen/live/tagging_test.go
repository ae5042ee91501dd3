package live

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/collectors/meter"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// narrow gives clients little room to receive in, so that the server's kernel
// always has something that it cannot send yet. Its packets are small, as on an
// Ethernet: one of loopback's size would not fit.
type narrow struct{ *loopback }

func (n narrow) Dial(ctx context.Context, _, server, _ int) (net.Conn, error) {
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return control(raw, func(fd int) error {
			return errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_MAXSEG, 1448),
				unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 16<<10))
		})
	}}
	n.mu.Lock()
	defer n.mu.Unlock()
	c, err := d.DialContext(ctx, "tcp4", n.addr[[2]int{server}])
	n.dialled = append(n.dialled, c)
	return c, err
}

// sniffer sees the TCP packets of this network namespace.
type sniffer int

func newSniffer(t *testing.T) sniffer {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.IPPROTO_TCP)
	if errors.Is(err, unix.EPERM) {
		t.Skip("watching packets needs root")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 64<<20); err != nil {
		t.Fatal(err)
	}
	return sniffer(fd)
}

// segment is payload of a TCP packet.
type segment struct {
	seq  uint32
	size int
	dscp uint8
}

// from reads the payload seen so far that was sent from a port.
func (s sniffer) from(t *testing.T, port int) []segment {
	t.Helper()
	var segments []segment
	b := make([]byte, 1<<17)
	for {
		n, _, err := unix.Recvfrom(int(s), b, unix.MSG_DONTWAIT)
		if errors.Is(err, unix.EAGAIN) {
			return segments
		}
		if err != nil {
			t.Fatal(err)
		}
		tcp := b[int(b[0]&0x0f)*4 : n]
		head := int(tcp[12]>>4) * 4
		if int(binary.BigEndian.Uint16(tcp)) == port && len(tcp) > head {
			segments = append(segments, segment{binary.BigEndian.Uint32(tcp[4:]), len(tcp) - head, b[1] >> 2})
		}
	}
}

// dscps lists the DSCP of every byte of one connection's payload, in order; a
// byte that was sent twice counts the first time.
func dscps(t *testing.T, segments []segment, total int) []uint8 {
	t.Helper()
	list, seen := make([]uint8, total), make([]bool, total)
	for _, s := range segments {
		for i := range s.size {
			if at := int(s.seq-segments[0].seq) + i; !seen[at] {
				list[at], seen[at] = s.dscp, true
			}
		}
	}
	if missing := slices.Index(seen, false); missing >= 0 {
		t.Fatalf("byte %d was not seen", missing)
	}
	return list
}

// Every byte of a response has the DSCP of its offset on the wire, one flow on
// a connection after the other, also when the kernel cannot send at once what
// the server writes.
func TestEveryByteIsTagged(t *testing.T) {
	sniff := newSniffer(t)
	tagging := traffic.Tagging{Thresholds: []units.Size{20 * units.KB, 100 * units.KB}}
	n := narrow{newLoopback()}
	serve(t, n, 1)
	flows := []traffic.Flow{flow(0, 1, 300_000), flow(1, 1, 20_000), flow(2, 1, 100_001)}
	for i := range flows {
		flows[i].Service = i
	}
	total := 0
	var want []uint8
	for _, f := range flows {
		total += responseSize + int(f.Bytes)
		want = append(want, make([]uint8, responseSize)...)
		for at := range f.Bytes {
			want = append(want, tagging.DSCP(f.Service, at))
		}
	}
	c := open(t, n, Config{Flows: flows, Tagging: tagging, Connections: 1, Limit: time.Minute})
	conn := c.pool.take(ends{server: 1})
	r := newRun(c, time.Now())
	for _, f := range flows {
		if err := conn.send(r.request(f), meter.For{}); err != nil {
			t.Fatal(err)
		}
		if err := conn.receive(); err != nil {
			t.Fatal(err)
		}
		if tos := option(t, n.dialled[0], unix.IPPROTO_IP, unix.IP_TOS); tos>>2 != 0 {
			t.Errorf("the client's DSCP is %d, want that of the first byte, 0", tos>>2)
		}
	}
	port := conn.RemoteAddr().(*net.TCPAddr).Port
	got := dscps(t, sniff.from(t, port), total)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("byte %d of %d has DSCP %d, want %d", i, total, got[i], want[i])
		}
	}
}

// TestMessagesOnAConnection: with a gap, what the server writes soon after a flow has the
// offsets behind it; a flow of another request begins anew without one (TCN, footnote 5).
func TestMessagesOnAConnection(t *testing.T) {
	sniff := newSniffer(t)
	n := narrow{newLoopback()}
	serve(t, n, 1)
	c := dial(t, n, 1)
	total := 0
	var want []uint8
	for _, step := range []struct {
		gap   uint16
		bytes int64
		first int64 // offset of its first byte
	}{
		{math.MaxUint16, 60_000, 0},
		{math.MaxUint16, 60_000, 60_000}, // seconds must pass for a message to end
		{math.MaxUint16, 30_000, 120_000},
		{0, 60_000, 0},
	} {
		q := &request{bytes: step.bytes, service: 3, count: 1, gap: step.gap}
		q.thresholds[0] = 100 * units.KB
		put(t, c, q)
		if _, err := io.CopyN(io.Discard, c, responseSize+step.bytes); err != nil {
			t.Fatal(err)
		}
		total += responseSize + int(step.bytes)
		for at := -int64(responseSize); at < step.bytes; at++ {
			want = append(want, q.dscp(step.first+max(at, 0)))
		}
	}
	got := dscps(t, sniff.from(t, c.RemoteAddr().(*net.TCPAddr).Port), total)
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("byte %d of %d has DSCP %d, want %d", i, total, got[i], want[i])
		}
	}
}

// A silence ends a message, but only when the client has acknowledged all.
func TestSilenceEndsAMessage(t *testing.T) {
	n := newLoopback()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n.addr[[2]int{1}] = l.Addr().String()
	dial(t, narrow{n}, 1)
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sock, err := newSocket(conn, "")
	if err != nil {
		t.Fatal(err)
	}
	r := responder{socket: sock, request: request{gap: 5}}
	decide := func(wrote time.Time) int64 {
		r.message, r.wrote = 60_000, wrote
		if err := r.continueMessage(); err != nil {
			t.Fatal(err)
		}
		return r.message
	}
	long := time.Now().Add(-time.Minute)
	if got := decide(long); got != 0 {
		t.Errorf("a minute later: %d bytes of the same message", got)
	}
	if got := decide(time.Now().Add(time.Minute)); got != 60_000 {
		t.Errorf("without a silence: %d bytes of the same message, want 60000", got)
	}
	if err := conn.(*net.TCPConn).SetWriteBuffer(1 << 20); err != nil { // more than a client takes that does not read
		t.Fatal(err)
	}
	if _, err := conn.Write(make([]byte, 200_000)); err != nil {
		t.Fatal(err)
	}
	if got := decide(long); got != 60_000 {
		t.Errorf("with a full send buffer: %d bytes of the same message, want 60000", got)
	}
}

// The server's kernel takes far more than it can send to a client that does not
// read; the DSCP stays while any byte below the threshold is unsent.
func TestTagWaitsForTheKernel(t *testing.T) {
	const threshold, window = 1 << 20, 64 << 10
	n := newLoopback()
	serve(t, n, 1)
	c := dial(t, narrow{n}, 1)
	q := &request{bytes: threshold + 1, service: 9, count: 1}
	q.thresholds[0] = threshold
	put(t, c, q)
	buf := make([]byte, 1<<14)
	for left := responseSize + threshold + 1; left > 0; {
		got, err := c.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		left -= got
		if err := n.server().(*net.TCPConn).SetWriteBuffer(2 * threshold); err != nil {
			t.Fatal(err)
		}
		tos := option(t, n.server(), unix.IPPROTO_IP, unix.IP_TOS) >> 2
		if left > window && tos != 0 || left == 0 && tos != 10 {
			t.Fatalf("DSCP %d with %d bytes to come", tos, left)
		}
	}
}

// A server that waits for its kernel ends with the connection.
func TestTagWaitEndsWithTheConnection(t *testing.T) {
	n := newLoopback()
	s, err := Serve(n, []int{1}, "")
	if err != nil {
		t.Fatal(err)
	}
	c := dial(t, narrow{n}, 1)
	q := &request{bytes: 32 << 20, count: 1}
	q.thresholds[0] = 1 << 20
	put(t, c, q)
	if _, err := c.Read(make([]byte, responseSize)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil && !strings.Contains(err.Error(), os.ErrClosed.Error()) {
		t.Errorf("closing: %v", err)
	}
}
