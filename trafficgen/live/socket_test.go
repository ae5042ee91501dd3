package live

import (
	"errors"
	"net"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"aqmlab/collectors/meter"
)

// inspect hands the descriptor of a connection's socket to f.
func inspect(t *testing.T, c any, f func(fd int) error) {
	t.Helper()
	raw, err := rawConn(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := control(raw, f); err != nil {
		t.Fatal(err)
	}
}

func option(t *testing.T, c any, level, name int) (value int) {
	t.Helper()
	inspect(t, c, func(fd int) (err error) {
		value, err = unix.GetsockoptInt(fd, level, name)
		return err
	})
	return value
}

// exchange opens one connection to host 1 and returns its owner and both of
// its sockets, the server's after the first response.
func exchange(t *testing.T, n *loopback, congestionControl string) (conn *connection, sides map[string]net.Conn) {
	t.Helper()
	flows := one(flow(0, 1, 10))
	c := open(t, n, Config{Flows: flows, Connections: 1, CongestionControl: congestionControl})
	conn = c.pool.take(ends{server: 1})
	if err := conn.send(request{bytes: 10}, meter.For{}); err != nil {
		t.Fatal(err)
	}
	if err := conn.receive(); err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return conn, map[string]net.Conn{"client": n.dialled[0], "server": n.accepted[0]}
}

func TestBothSidesAreClassified(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	conn, sides := exchange(t, n, "")
	for i, service := range []int{3, 3, 0, 63, 1} {
		if err := conn.send(request{flow: uint64(i), bytes: 5000, service: uint8(service)}, meter.For{}); err != nil {
			t.Fatal(err)
		}
		if err := conn.receive(); err != nil {
			t.Fatal(err)
		}
		for side, c := range sides {
			if tos := option(t, c, unix.IPPROTO_IP, unix.IP_TOS); tos>>2 != service {
				t.Errorf("flow %d: the %s's DSCP is %d, want %d", i, side, tos>>2, service)
			}
		}
	}
}

func TestSocketOptions(t *testing.T) {
	n := newLoopback()
	s, err := Serve(n, []int{1}, "reno")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, sides := exchange(t, n, "reno")
	for side, c := range sides {
		if option(t, c, unix.IPPROTO_TCP, unix.TCP_NODELAY) != 1 {
			t.Errorf("%s: TCP_NODELAY is off", side)
		}
		if option(t, c, unix.SOL_SOCKET, unix.SO_KEEPALIVE) != 0 {
			t.Errorf("%s: SO_KEEPALIVE is on", side)
		}
		inspect(t, c, func(fd int) error {
			name, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
			if name != "reno" {
				t.Errorf("%s: congestion control %q, want reno", side, name)
			}
			return err
		})
	}
}

func TestUnknownCongestionControl(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	_, serving := Serve(n, []int{2}, "nonesuch")
	_, asking := Open(t.Context(), n, Config{Flows: one(flow(0, 1, 1)), Dilation: 1, Connections: 2, CongestionControl: "nonesuch"})
	for side, err := range map[string]error{"server": serving, "client": asking} {
		if !errors.Is(err, unix.ENOENT) || !strings.Contains(err.Error(), `"nonesuch" is not in this kernel, which has`) ||
			!strings.Contains(err.Error(), "reno") {
			t.Errorf("%s: error %v, want one that names it and what there is", side, err)
		}
	}
}

func TestNotASocket(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if _, err := newSocket(a, ""); err == nil || !strings.Contains(err.Error(), "*net.pipe has no socket") {
		t.Errorf("error %v, want one that names the type", err)
	}
}
