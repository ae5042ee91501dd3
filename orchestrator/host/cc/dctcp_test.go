package cc

import (
	"fmt"
	"math"
	"net"
	"testing"

	"aqmlab/trafficgen/transport"
)

// state reads a connection's state.
func state(t *testing.T, h *Handle, conn *net.TCPConn) State {
	t.Helper()
	raw, err := conn.SyscallConn()
	must(t, err)
	var r Reader
	if h.registration != nil {
		r.states = h.registration.states
	}
	s, err := r.Read(raw)
	must(t, err)
	return s
}

// dctcp is state for a connection that runs DCTCP.
func dctcp(t *testing.T, h *Handle, conn *net.TCPConn) State {
	t.Helper()
	s := state(t, h, conn)
	if s.DCTCP == nil {
		t.Fatalf("connection runs %s, not DCTCP", s.Algorithm)
	}
	return s
}

// times is for transfer: n blocks.
func times(n int) func() bool {
	return func() bool {
		n--
		return n >= 0
	}
}

// TestStart: alpha starts at 1 (RFC 8257, section 4.2).
func TestStart(t *testing.T) {
	h, n := acquire(t, "i"), newNetwork(t)
	client, server := n.connect(t, h.Name(), h.Name())
	for _, conn := range []*net.TCPConn{client, server} {
		s := dctcp(t, h, conn)
		if want := (DCTCP{Alpha: 1}); *s.DCTCP != want || !s.ECN || s.Algorithm != h.Name() {
			t.Errorf("new connection: %+v, DCTCP %+v", s, *s.DCTCP)
		}
	}
}

// TestMarkedShare marks data packets at random and compares with the model.
//
// alpha: 100 windows leave (15/16)^100 = 0.2 % of its first value, 1. From
// there its mean over 500 windows is f with a standard error below 0.01; the
// tolerance is for unequal windows, since a mark shortens the ones after it.
//
// cwnd: a cut takes f*W/2 and is followed by one window without growth. Then
// 1/f packets pass until the next mark, and each adds 1/W. The two balance at
// W = sqrt(2)/f; whole segments and bursts stay within a factor of two of it.
// No cut goes below 2.
func TestMarkedShare(t *testing.T) {
	h := acquire(t, "m")
	for _, tc := range []struct {
		mark, tolerance  float64
		minCwnd, maxCwnd float64
	}{
		{mark: 0, tolerance: 1e-4, minCwnd: 50, maxCwnd: math.Inf(1)},
		{mark: 0.1, tolerance: 0.05, minCwnd: 7, maxCwnd: 28},
		{mark: 0.25, tolerance: 0.07, minCwnd: 2.8, maxCwnd: 11.3},
		{mark: 1, tolerance: 0, minCwnd: 2, maxCwnd: 3},
	} {
		t.Run(fmt.Sprint(tc.mark), func(t *testing.T) {
			n := newNetwork(t)
			n.wire.set(plan{mark: tc.mark})
			client, _ := n.connect(t, h.Name(), h.Name())
			alpha, cwnd := means(t, h, client)
			if math.Abs(alpha-tc.mark) > tc.tolerance {
				t.Errorf("alpha %v, want %v within %v", alpha, tc.mark, tc.tolerance)
			}
			if cwnd < tc.minCwnd || cwnd > tc.maxCwnd {
				t.Errorf("cwnd %v, want %v to %v", cwnd, tc.minCwnd, tc.maxCwnd)
			}
			wantExactEcho(t, n, state(t, h, client))
		})
	}
}

// means transfers for 600 windows and averages over the last 500.
func means(t *testing.T, h *Handle, client *net.TCPConn) (alpha, cwnd float64) {
	t.Helper()
	const settled, enough = 100, 600
	samples := 0.0
	transfer(t, client, func() bool {
		s := dctcp(t, h, client)
		if s.DCTCP.Windows >= settled {
			alpha += s.DCTCP.Alpha
			cwnd += float64(s.Cwnd)
			samples++
		}
		return s.DCTCP.Windows < enough
	})
	return alpha / samples, cwnd / samples
}

// wantExactEcho compares what the sender was told with what was done on the
// wire and what the receiver's IP layer saw: packet for packet.
func wantExactEcho(t *testing.T, n *network, s State) {
	t.Helper()
	c := n.wire.counts()
	if c.notECT != 0 || c.ect == 0 {
		t.Errorf("%d data packets were not ECN-capable, %d were", c.notECT, c.ect)
	}
	if got := n.server.inCE(t); int(got) != c.ce {
		t.Errorf("receiver got %d marked packets, %d were marked", got, c.ce)
	}
	if int(s.DeliveredCE) != c.ce {
		t.Errorf("sender was told of %d marked packets of %d, want %d", s.DeliveredCE, s.Delivered, c.ce)
	}
}

// TestLoss loses a packet when alpha is next to 0, so that only the rule for
// losses explains a cut: by half (RFC 8257, section 3.5), or by alpha as in Linux
// before 5.1, which is none.
func TestLoss(t *testing.T) {
	for name, tt := range map[string]struct {
		byAlpha bool
		left    float64
	}{"half": {false, 0.5}, "alpha": {true, 1}} {
		t.Run(name, func(t *testing.T) { lose(t, tt.byAlpha, tt.left) })
	}
}

// lose has a connection lose a packet, which should leave that share of the window.
func lose(t *testing.T, byAlpha bool, left float64) {
	as := named("dctcp")
	if byAlpha {
		as.DCTCP.OnLoss = transport.OnLossAlpha
	}
	h, n := acquireAs(t, "d", as), newNetwork(t)
	// Between transfers the window is put aside otherwise; here it is compared.
	n.client.sysctl(t, "tcp_slow_start_after_idle", "0")
	client, _ := n.connect(t, h.Name(), h.Name())
	transfer(t, client, func() bool { return dctcp(t, h, client).DCTCP.Windows < 200 })
	before := dctcp(t, h, client)
	n.wire.set(plan{drop: 1})
	transfer(t, client, times(50))
	after := dctcp(t, h, client)
	if cuts := after.DCTCP.Reductions - before.DCTCP.Reductions; cuts != 1 {
		t.Errorf("one lost packet led to %d cuts", cuts)
	}
	if share := float64(after.SSThresh) / float64(before.Cwnd); math.Abs(share-left) > 0.05 {
		t.Errorf("loss at cwnd %d set ssthresh %d, want %v of it", before.Cwnd, after.SSThresh, left)
	}
}

// TestIdle: an idle connection shows its initial window, of ten segments, and
// has its old one back when it sends again before a retransmission timeout has
// passed (RFC 5681, section 4.1). The sysctl that turns restarts off is heeded.
func TestIdle(t *testing.T) {
	const initial = 10
	for _, restart := range []bool{true, false} {
		h, n := acquire(t, "i"), newNetwork(t)
		n.client.sysctl(t, "tcp_slow_start_after_idle", map[bool]string{true: "1", false: "0"}[restart])
		client, _ := n.connect(t, h.Name(), h.Name())
		transfer(t, client, func() bool { return dctcp(t, h, client).DCTCP.Windows < 50 })
		if idle := dctcp(t, h, client).Cwnd; (idle == initial) != restart {
			t.Errorf("restart %v: window of %d while idle", restart, idle)
		}
		busy := uint32(0)
		transfer(t, client, func() bool {
			busy = max(busy, dctcp(t, h, client).Cwnd)
			return dctcp(t, h, client).DCTCP.Windows < 60
		})
		if busy <= 2*initial {
			t.Errorf("restart %v: window of %d after a short idle time", restart, busy)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPeerWithoutECN: without ECN there is Reno, and no packet claims ECN.
func TestPeerWithoutECN(t *testing.T) {
	h, n := acquire(t, "f"), newNetwork(t)
	client, _ := n.connect(t, h.Name(), "reno")
	_, server := n.connect(t, "reno", h.Name())
	for side, conn := range map[string]*net.TCPConn{"client": client, "server": server} {
		if s := state(t, h, conn); s.Algorithm != "reno" || s.ECN || s.DCTCP != nil {
			t.Errorf("DCTCP %s with a peer that has no ECN: %+v", side, s)
		}
	}
	transfer(t, client, times(20))
	if c := n.wire.counts(); c.ect != 0 || c.notECT == 0 {
		t.Errorf("%d data packets were ECN-capable, %d were not", c.ect, c.notECT)
	}
}

func TestECNStar(t *testing.T) {
	needsRoot(t)
	h, err := Acquire(named("ecn-star"), suffix("e"))
	must(t, err)
	if h.Name() != "reno" || h.Provider() != Kernel || !h.ECN() {
		t.Errorf("ecn-star is %+v", h)
	}
	n := newNetwork(t)
	n.client.sysctl(t, "tcp_ecn", "1")
	n.wire.set(plan{mark: 0.25})
	client, _ := n.connect(t, h.Name(), h.Name())
	transfer(t, client, times(50))
	s := state(t, h, client)
	if s.Algorithm != "reno" || !s.ECN || s.DCTCP != nil || s.DeliveredCE == 0 {
		t.Errorf("ecn-star connection: %+v", s)
	}
	must(t, h.Close())
}
