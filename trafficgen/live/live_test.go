package live

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
)

// loopback is a network of hosts that are ports of 127.0.0.1. It keeps what it
// made, so that a test can look at both ends of a connection.
type loopback struct {
	speaks   int    // transports that are streams; zero: one
	sorts    []Sort // of transports, where some are not
	mu       sync.Mutex
	addr     map[[2]int]string // of each host that listens, and its transport
	dialled  []net.Conn
	accepted []net.Conn
}

func newLoopback() *loopback { return &loopback{addr: map[[2]int]string{}} }

func (n *loopback) Transports() []Sort {
	if n.sorts != nil {
		return n.sorts
	}
	return make([]Sort, max(1, n.speaks))
}

func (n *loopback) ListenDatagrams(host, transport int) (*net.UDPConn, error) {
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addr[[2]int{host, transport}] = c.LocalAddr().String()
	return c, nil
}

func (n *loopback) Listen(host, transport int) (net.Listener, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.addr[[2]int{host, transport}] = l.Addr().String()
	return &recorder{l.(*net.TCPListener), n}, nil
}

func (n *loopback) Dial(ctx context.Context, _, server, transport int) (net.Conn, error) {
	n.mu.Lock()
	addr, ok := n.addr[[2]int{server, transport}]
	n.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("host %d does not listen", server)
	}
	network := "tcp4"
	if n.Transports()[transport] == Datagrams {
		network = "udp4"
	}
	c, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.dialled = append(n.dialled, c)
	}
	return c, err
}

func (n *loopback) dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.dialled)
}

// server is the server's end of the first connection.
func (n *loopback) server() net.Conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.accepted[0]
}

// recorder notes what a listener accepts.
type recorder struct {
	*net.TCPListener
	network *loopback
}

func (r *recorder) Accept() (net.Conn, error) {
	c, err := r.TCPListener.Accept()
	if err == nil {
		r.network.mu.Lock()
		defer r.network.mu.Unlock()
		r.network.accepted = append(r.network.accepted, c)
	}
	return c, err
}

// serve runs our server on hosts for the length of a test, and fails the test
// on whatever goes wrong there.
func serve(t testing.TB, n Network, hosts ...int) *Server {
	t.Helper()
	s, err := Serve(n, hosts, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// script runs handle on each connection to a host, in place of our server.
func script(t *testing.T, n *loopback, host int, handle func(net.Conn)) {
	t.Helper()
	l, err := n.Listen(host, 0)
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			work.Go(func() {
				defer c.Close()
				handle(c)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		work.Wait()
	})
}

// ask reads a request the way the package comment describes it, and returns the
// beginning of the response to it.
func ask(c net.Conn) (head [responseSize]byte, size int64, err error) {
	var b [requestSize]byte
	if _, err = io.ReadFull(c, b[:]); err != nil {
		return head, 0, err
	}
	for _, digit := range b[16:24] {
		size = size<<8 | int64(digit)
	}
	copy(head[:16], b[:])
	return head, size, nil
}

// silent reads requests, tells about each, and never answers.
func silent(asked chan<- struct{}) func(net.Conn) {
	return func(c net.Conn) {
		for {
			if _, _, err := ask(c); err != nil {
				return
			}
			asked <- struct{}{}
		}
	}
}

// flow is a flow of host 0 at the beginning of the run.
func flow(id, server int, bytes int64) traffic.Flow {
	return traffic.Flow{ID: id, Start: 1, Server: server, Bytes: bytes}
}

// open opens a client that is closed at the end of the test.
func open(t testing.TB, n Network, cfg Config) *Client {
	t.Helper()
	if cfg.Dilation == 0 {
		cfg.Dilation = 1
	}
	c, err := Open(t.Context(), n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// replay runs a trace to its end.
func replay(t testing.TB, n Network, cfg Config) []results.Flow {
	t.Helper()
	records, err := open(t, n, cfg).Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func checkCompleted(t *testing.T, records []results.Flow, flows []traffic.Flow) {
	t.Helper()
	if len(records) != len(flows) {
		t.Fatalf("%d records of %d flows", len(records), len(flows))
	}
	for i, r := range records {
		f := flows[i]
		want := results.Flow{
			ID: int64(f.ID), Start: f.Start, Sent: r.Sent, FCT: r.FCT, Bytes: f.Bytes, Received: f.Bytes,
			Client: int32(f.Client), Server: int32(f.Server), Service: int32(f.Service),
			Workload: int32(f.Workload), Query: int64(f.Query), Stops: f.Stop > 0,
			Stop: f.Stop, Rate: int64(f.Rate), Push: f.Push,
		}
		if r != want || r.Sent < r.Start || r.FCT <= 0 {
			t.Errorf("record %+v of flow %+v", r, f)
		}
	}
}

func one(f traffic.Flow) []traffic.Flow { return []traffic.Flow{f} }
