package program

import (
	"io"
	"net"
	"testing"
)

// TestConnections: of a connection over the loopback, both ends count: what was sent and
// received, to the byte, where the end
// of a connection counts as one.
func TestConnections(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	a, err := newAccountant("", func(int) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, err := listener.Accept()
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}()
	c, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near := c.LocalAddr().(*net.TCPAddr).Port
	if _, err := c.Write(make([]byte, 12345)); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	byPort, err := a.end()
	if err != nil {
		t.Fatal(err)
	}
	if s := byPort[near]; s == nil || s.Sent != 12345 {
		t.Errorf("the client's end: %+v", s)
	}
	if s := byPort[port]; s == nil || s.Received < 12345 || s.Received > 12346 {
		t.Errorf("the server's end: %+v", s)
	}
}

// TestShare: a connection is of the program that listens at its port, or else of the only
// one that it can be of; where it can be of several, these are not counted.
func TestShare(t *testing.T) {
	type listens []int
	for name, c := range map[string]struct {
		programs []listens
		ports    []int
		want     []int64 // bytes sent by each, -1: not counted
	}{
		"a server":                 {[]listens{{80}}, []int{80, 80}, []int64{20}},
		"a server that asks":       {[]listens{{80}}, []int{80, 40000}, []int64{20}},
		"two servers":              {[]listens{{80}, {81, 82}}, []int{80, 81, 82}, []int64{10, 20}},
		"one of two servers asks":  {[]listens{{80}, {81}}, []int{80, 40000}, []int64{-1, -1}},
		"a client":                 {[]listens{nil}, []int{40000, 40001}, []int64{20}},
		"a client beside a server": {[]listens{{80}, nil}, []int{80, 40000}, []int64{10, 10}},
		"two clients":              {[]listens{{80}, nil, nil}, []int{80, 40000}, []int64{10, -1, -1}},
		"clients that never ask":   {[]listens{{80}, nil, nil}, []int{80}, []int64{10, 0, 0}},
	} {
		var on []*running
		for _, ports := range c.programs {
			on = append(on, &running{Spec: Spec{Listens: ports}})
		}
		byPort := make(map[int]*Sockets)
		for _, port := range c.ports {
			if byPort[port] == nil {
				byPort[port] = new(Sockets)
			}
			byPort[port].add(Sockets{Sent: 10})
		}
		share(byPort, on)
		for i, want := range c.want {
			got := on[i].result.Sockets.Sent
			if !on[i].result.Counted {
				got = -1
			}
			if got != want {
				t.Errorf("%s: program %d sent %d, want %d", name, i, got, want)
			}
		}
	}
}
