package live

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func dial(t *testing.T, n Network, server int) net.Conn {
	t.Helper()
	c, err := n.Dial(t.Context(), 0, server, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// put writes a request and returns its bytes.
func put(t *testing.T, c net.Conn, q *request) (b [requestSize]byte) {
	t.Helper()
	q.put(&b)
	if _, err := c.Write(b[:]); err != nil {
		t.Fatal(err)
	}
	return b
}

// now is the system's monotonic clock.
func now(t *testing.T) int64 {
	t.Helper()
	at, err := monotonic()
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestServerAnswersExactly(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	c := dial(t, n, 1)
	for _, size := range []int64{1, 23, zerosSize - 1, zerosSize, zerosSize + 1, 3*zerosSize + 5} {
		var answer [responseSize]byte
		before := now(t)
		want := put(t, c, &request{flow: uint64(size), bytes: size, service: 5})
		if _, err := io.ReadFull(c, answer[:]); err != nil || !slices.Equal(answer[:16], want[:16]) {
			t.Fatalf("answer % x, %v; want % x", answer, err, want[:16])
		}
		if at := int64(binary.BigEndian.Uint64(answer[16:])); at < before || at > now(t) {
			t.Fatalf("the clock says %d, after %d", at, before)
		}
		payload := make([]byte, size)
		if _, err := io.ReadFull(c, payload); err != nil {
			t.Fatalf("payload of %d: %v", size, err)
		}
		for i, b := range payload {
			if b != 0 {
				t.Fatalf("byte %d of %d is %d, want 0", i, size, b)
			}
		}
	}
	// A byte too many would come before the end that the server now sees.
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(c); len(rest) != 0 || err != nil {
		t.Errorf("%d bytes after the last response, %v", len(rest), err)
	}
}

func TestServerRefusesGarbage(t *testing.T) {
	for text, want := range map[string]string{
		"GET /" + strings.Repeat("x", requestSize-5): "not a header of this protocol: it begins with 47 45 54 20",
		"aqm\x02": "unexpected EOF",
	} {
		n := newLoopback()
		s, err := Serve(n, []int{1}, "")
		if err != nil {
			t.Fatal(err)
		}
		c := dial(t, n, 1)
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		// The server closes; with bytes unread that is a reset.
		if rest, err := io.ReadAll(c); len(rest) != 0 || err != nil && !errors.Is(err, unix.ECONNRESET) {
			t.Errorf("%q: answered %q, %v", text, rest, err)
		}
		err = s.Close()
		if err == nil || !strings.Contains(err.Error(), "host 1: serving 127.0.0.1:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// A client that goes away in the middle of a response is the client's affair.
func TestServerOutlivesItsClients(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	c := dial(t, n, 1)
	put(t, c, &request{flow: 1, bytes: 1 << 30})
	if _, err := io.ReadFull(c, make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	c.Close()
	flows := one(flow(0, 1, 100))
	checkCompleted(t, replay(t, n, Config{Flows: flows}), flows)
}

func TestServerCloseEndsConnections(t *testing.T) {
	n := newLoopback()
	s, err := Serve(n, []int{1, 2}, "")
	if err != nil {
		t.Fatal(err)
	}
	a, b := dial(t, n, 1), dial(t, n, 2)
	flows := one(flow(0, 1, 100))
	checkCompleted(t, replay(t, n, Config{Flows: flows}), flows) // both are accepted by now or refused below
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, c := range []net.Conn{a, b} {
		if rest, err := io.ReadAll(c); len(rest) != 0 || err != nil && !errors.Is(err, unix.ECONNRESET) {
			t.Errorf("%d bytes, %v from a closed server", len(rest), err)
		}
	}
	if _, err := n.Dial(t.Context(), 0, 1, 0); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("dialling a closed server: %v, want %v", err, unix.ECONNREFUSED)
	}
}

// deaf fails to listen on host 2.
type deaf struct{ *loopback }

var errDeaf = errors.New("no such host")

func (d deaf) Listen(host, transport int) (net.Listener, error) {
	if host == 2 {
		return nil, errDeaf
	}
	return d.loopback.Listen(host, transport)
}

func TestServeClosesWhatItOpened(t *testing.T) {
	n := deaf{newLoopback()}
	_, err := Serve(n, []int{1, 2, 3}, "")
	if !errors.Is(err, errDeaf) || !strings.Contains(err.Error(), "host 2") {
		t.Errorf("error %v, want %v of host 2", err, errDeaf)
	}
	if _, err := n.Dial(t.Context(), 0, 1, 0); !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("dialling host 1: %v, want %v", err, unix.ECONNREFUSED)
	}
}
