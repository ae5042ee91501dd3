package underlay_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"aqmlab/orchestrator/underlay"
)

func reflector(t *testing.T) netip.AddrPort {
	t.Helper()
	r, err := underlay.Reflect(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r.Addr()
}

// TestCompare: a machine's clock is not ahead of itself by more than the comparison says
// that it may be wrong.
func TestCompare(t *testing.T) {
	o, err := underlay.Compare(t.Context(), reflector(t))
	if err != nil {
		t.Fatal(err)
	}
	if off := max(o.Ahead, -o.Ahead); off > o.Bound() || o.RTT <= 0 {
		t.Errorf("offset %+v of a clock to itself, want at most %v", o, o.Bound())
	}
}

// TestCompareUnanswered: who does not answer is named, and Ctrl-C ends the wait.
func TestCompareUnanswered(t *testing.T) {
	silent, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	at := silent.LocalAddr().(*net.UDPAddr).AddrPort()
	if _, err := underlay.Compare(t.Context(), at); err == nil {
		t.Error("a clock was compared with that of nobody")
	}
	why := errors.New("had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := underlay.Compare(ctx, at); !errors.Is(err, why) {
		t.Errorf("error %v, want %v", err, why)
	}
}

func TestThroughput(t *testing.T) {
	bits, err := underlay.Throughput(t.Context(), reflector(t), 50*time.Millisecond)
	if err != nil || bits <= 0 {
		t.Errorf("%v bit/s, %v", bits, err)
	}
	mtu, err := underlay.MTU(t.Context(), reflector(t))
	loopback, lerr := net.InterfaceByName("lo")
	if err != nil || lerr != nil || mtu != min(loopback.MTU, 65535) {
		t.Errorf("MTU %d, %v; want that of lo, %d, as far as a packet can be", mtu, errors.Join(err, lerr), loopback.MTU)
	}
}
