package live

import (
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// newDatagramLoopback is a network whose second transport sends datagrams.
func newDatagramLoopback() *loopback {
	n := newLoopback()
	n.sorts = []Sort{Stream, Datagrams}
	return n
}

// cbr is a flow of datagrams that ends with its bytes or its time.
func cbr(id int, bytes int64, rate units.Rate, stop time.Duration) traffic.Flow {
	return traffic.Flow{ID: id, Start: 1, Server: 1, Bytes: bytes, Rate: rate, Stop: stop, Transport: 1}
}

// TestDatagrams: all payload comes where nothing is lost, in no less time than the rate
// says, beside a flow of TCP. A flow that stops before has what its rate sends until then.
func TestDatagrams(t *testing.T) {
	for _, push := range []bool{false, true} {
		n := newDatagramLoopback()
		serve(t, n, 1)
		flows := []traffic.Flow{
			cbr(0, 20*1000+7, 8*units.Mbps, 30*time.Second), // a datagram each millisecond
			cbr(1, traffic.MaxBytes, 8*units.Mbps, 100*time.Millisecond),
			flow(2, 1, 100_000),
		}
		for i := range flows {
			flows[i].Push = push
		}
		records := replay(t, n, Config{Flows: flows, Dilation: 0.5, Datagram: 1000, Connections: 1})
		whole, stopped, stream := records[0], records[1], records[2]
		if !whole.Completed() || whole.Received != 20_007 || whole.Bytes != 20_007 || whole.FCT < 20*time.Millisecond {
			t.Errorf("push %v: %+v", push, whole)
		}
		// In 100 ms of lab time 100 datagrams are due; how many the server sends depends on
		// when it is asked.
		if !stopped.Completed() || stopped.Received > 101_000 || stopped.Received < 1000 || stopped.Received%1000 != 0 || stopped.Bytes != stopped.Received {
			t.Errorf("push %v: %+v", push, stopped)
		}
		if !stream.Completed() {
			t.Errorf("push %v: %+v", push, stream)
		}
	}
}

// TestDatagramsOfOneFlow: payload begins with the answer, and each datagram has the DSCP of
// its first byte (one threshold, 2500 bytes). A request that is there twice is answered once.
func TestDatagramsOfOneFlow(t *testing.T) {
	n := newDatagramLoopback()
	serve(t, n, 1)
	c, err := n.Dial(t.Context(), 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	conn := c.(*net.UDPConn)
	raw, err := rawConn(conn)
	if err != nil {
		t.Fatal(err)
	}
	o := options{raw, -1}
	if err := o.set("IP_RECVTOS", unix.IPPROTO_IP, unix.IP_RECVTOS, 1); err != nil {
		t.Fatal(err)
	}
	q := request{flow: 9, bytes: 4500, service: 3, count: 1, gap: 1000, rate: 1e6, lasts: time.Minute}
	q.thresholds[0] = 2500
	before := now(t)
	ask := put(t, conn, &q)
	put(t, conn, &q)
	var sizes, dscps []int
	b, oob := make([]byte, 2000), make([]byte, 64)
	for total := 0; total < 4500; {
		size, control, _, _, err := conn.ReadMsgUDP(b, oob)
		if err != nil {
			t.Fatal(err)
		}
		began, err := parseAnswer((*[responseSize]byte)(b), &ask)
		if err != nil || began < before || began > now(t) {
			t.Errorf("a datagram begins with % x: %v", b[:responseSize], err)
		}
		messages, err := unix.ParseSocketControlMessage(oob[:control])
		if err != nil || len(messages) != 1 {
			t.Fatal(messages, err)
		}
		sizes, dscps = append(sizes, size), append(dscps, int(messages[0].Data[0])>>2)
		total += size
	}
	for i, size := range []int{1000, 1000, 1000, 1000, 500} {
		want := 0 // the first priority; behind the threshold that of the service
		if i*1000 >= 2500 {
			want = 4
		}
		if len(sizes) != 5 || sizes[i] != size || dscps[i] != want {
			t.Fatalf("sizes %v, DSCPs %v", sizes, dscps)
		}
	}
}

// TestDatagramsEnd: a flow that the server stopped ends with its last datagram, and waits no
// longer once the server says that no more follow.
func TestDatagramsEnd(t *testing.T) {
	n := sending(t, func(c *net.UDPConn, from *net.UDPAddr, ask []byte) {
		answer := append(append([]byte{}, ask[:idSize]...), 0, 0, 0, 0, 0, 0, 0, 1)
		_, _ = c.WriteToUDP(append(answer, make([]byte, 476)...), from)
		answer[responseSize-1] = 0
		_, _ = c.WriteToUDP(answer, from)
	})
	f := cbr(0, traffic.MaxBytes, units.Mbps, 24*time.Hour)
	if r := replay(t, n, Config{Flows: one(f), Datagram: 1000})[0]; !r.Completed() || r.Received != 500 {
		t.Errorf("%+v", r)
	}
}

// sending answers requests for datagrams in place of our server.
func sending(t *testing.T, answer func(c *net.UDPConn, from *net.UDPAddr, ask []byte)) *loopback {
	t.Helper()
	n := newDatagramLoopback()
	c, err := n.ListenDatagrams(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			b := make([]byte, 2000)
			size, from, err := c.ReadFromUDP(b)
			if err != nil {
				return
			}
			answer(c, from, b[:size])
		}
	}()
	t.Cleanup(func() { c.Close(); <-done })
	return n
}

// TestDatagramRequestLost: the client asks again for as long as nothing comes.
func TestDatagramRequestLost(t *testing.T) {
	asked := 0
	n := sending(t, func(c *net.UDPConn, from *net.UDPAddr, ask []byte) {
		if asked++; asked == 2 {
			_, _ = c.WriteToUDP(ask[:100], from) // which begins as an answer does
		}
	})
	r := replay(t, n, Config{Flows: one(cbr(0, 100, units.Mbps, time.Minute)), Datagram: 1000})[0]
	if !r.Completed() || r.Received != 100 || r.FCT < askAgain {
		t.Errorf("%+v", r)
	}
}

// TestDatagramsFail: a flow fails of which nothing comes within its time, or something else
// does.
func TestDatagramsFail(t *testing.T) {
	for want, answer := range map[string]func(*net.UDPConn, *net.UDPAddr, []byte){
		"no datagram came": func(*net.UDPConn, *net.UDPAddr, []byte) {},
		"a datagram of something else came": func(c *net.UDPConn, from *net.UDPAddr, _ []byte) {
			_, _ = c.WriteToUDP([]byte("GET / HTTP/1.1"), from)
		},
	} {
		f := cbr(0, 100, units.Mbps, 100*time.Millisecond)
		r := replay(t, sending(t, answer), Config{Flows: one(f), Dilation: 0.1, Datagram: 1000})[0]
		if r.Error != want || r.Received != 0 {
			t.Errorf("%+v, want %q", r, want)
		}
	}
}

// TestDatagramsNeed: nothing else bounds what flows of datagrams send.
func TestDatagramsNeed(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"flow 0: datagrams need a rate and a time to stop":      func(c *Config) { c.Flows[0].Rate = 0 },
		"flow 0: datagrams need a rate":                         func(c *Config) { c.Flows[0].Stop = 0 },
		"flow 0: transport 2 is outside 0 to 1":                 func(c *Config) { c.Flows[0].Transport = 2 },
		"a full datagram of 23 bytes is outside 24 to 65535":    func(c *Config) { c.Datagram = 23 },
		"a full datagram of 65536 bytes is outside 24 to 65535": func(c *Config) { c.Datagram = 1 << 16 },
	} {
		cfg := Config{Flows: one(cbr(0, 100, units.Mbps, time.Second)), Dilation: 1, Datagram: 1000}
		change(&cfg)
		if _, err := Open(t.Context(), newDatagramLoopback(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestDatagramServerRefusesGarbage: what is no request, or asks for no rate, is told about,
// and the next request is answered.
func TestDatagramServerRefusesGarbage(t *testing.T) {
	n := newDatagramLoopback()
	s, err := Serve(n, []int{1}, "")
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Dial(t.Context(), 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write([]byte("GET /")); err != nil {
		t.Fatal(err)
	}
	put(t, c, &request{flow: 1, bytes: 100, gap: 1000, lasts: time.Second})
	records := replay(t, n, Config{Flows: []traffic.Flow{cbr(0, 1000, units.Gbps, time.Minute)}, Datagram: 1000})
	if !records[0].Completed() {
		t.Errorf("%+v", records[0])
	}
	err = s.Close()
	for _, want := range []string{"host 1: reading a request for datagrams: 5 bytes: not a header", "datagrams of 1000 bytes at 0 bytes a second for 1s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestDatagramsOverflow: what the client's own kernel drops is no loss of the network.
func TestDatagramsOverflow(t *testing.T) {
	n := newDatagramLoopback()
	serve(t, n, 1)
	c, err := n.Dial(t.Context(), 0, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := newListener(c, traffic.Flow{}, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.checkDrops(); err != nil {
		t.Error(err)
	}
	if err := l.set("SO_RCVBUF", unix.SOL_SOCKET, unix.SO_RCVBUF, 1); err != nil { // the kernel's least
		t.Fatal(err)
	}
	put(t, c, &request{flow: 1, bytes: 100_000, gap: 1000, rate: 1e9, lasts: time.Minute})
	for err == nil {
		err = l.checkDrops()
	}
	if want := "the client woke up too late for "; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
