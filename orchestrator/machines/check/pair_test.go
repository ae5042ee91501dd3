package check

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/agent"
	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/underlay"
)

// station is a machine whose process is in this one, at an address of the loopback.
func station(t *testing.T, name, address string) *site {
	t.Helper()
	near, far := net.Pipe()
	s := &site{Machine: inventory.Machine{Name: name, Docker: "tcp://" + name, Address: netip.MustParseAddr(address)}}
	service := newService(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- agent.ServeStream(t.Context(), far, func(ctx context.Context) any {
			service.ctx = ctx
			return service
		})
	}()
	s.stream = agent.NewStream(near)
	a, err := s.answer(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.at = a.At
	t.Cleanup(func() {
		if err := s.close(context.Background()); err != nil {
			t.Error(err)
		}
		<-ended // the owner has gone
		if err := service.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// loopbackMTU is the size of the largest packet that there is.
const loopbackMTU = 65535

// pairOf is a check whose port of VXLAN is free, and two machines for it.
func pairOf(t *testing.T) (c *checking, from, to *site) {
	t.Helper()
	lo, err := net.InterfaceByName("lo")
	if err != nil || lo.MTU < loopbackMTU {
		t.Skipf("the loopback's MTU is not that of Linux: %+v, %v", lo, err)
	}
	from, to = station(t, "m1", "127.0.0.1"), station(t, "m2", "127.0.0.2")
	free, err := underlay.Reflect(netip.AddrPortFrom(from.Address, 0))
	if err != nil {
		t.Fatal(err)
	}
	defer free.Close()
	return &checking{Options: Options{Over: 10 * time.Millisecond}, Inventory: inventory.Inventory{Port: int(free.Addr().Port())}}, from, to
}

// TestPair: all that a lab needs to know of a network is measured, and the port of VXLAN
// is free again.
func TestPair(t *testing.T) {
	c, from, to := pairOf(t)
	p := c.pair(t.Context(), from, to)
	if p.Problem != "" || len(p.Notes) > 0 {
		t.Fatalf("measured %+v", p)
	}
	off := max(p.Ahead, -p.Ahead)
	if p.From != "m1" || p.To != "m2" || p.RTT <= 0 || off > time.Duration(p.Bound) || p.Bound > p.RTT {
		t.Errorf("measured %+v between two addresses of one clock", p)
	}
	if p.MTU != loopbackMTU || p.HostMTU != loopbackMTU-netns.VXLANOverhead || p.Forth <= 0 || p.Back <= 0 {
		t.Errorf("measured %+v", p)
	}
	for _, s := range []*site{from, to} {
		r, err := underlay.Reflect(netip.AddrPortFrom(s.Address, uint16(c.Port)))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestPairTooSmall: a lab whose packets do not fit is told the key and what it may be. The
// rest is measured.
func TestPairTooSmall(t *testing.T) {
	c, from, to := pairOf(t)
	c.MTU = loopbackMTU - netns.VXLANOverhead
	if p := c.pair(t.Context(), from, to); p.Problem != "" {
		t.Errorf("packets that just fit: %+v", p)
	}
	c.MTU++
	p := c.pair(t.Context(), from, to)
	for _, want := range []string{"host.mtu", "65486", "65485", "65536", "m1", "m2"} {
		if !strings.Contains(p.Problem, want) {
			t.Errorf("%q is not in %q", want, p.Problem)
		}
	}
	if p.Forth <= 0 || p.Back <= 0 {
		t.Errorf("no throughput: %+v", p)
	}
}

// TestPairPortInUse: where links of another lab have the port, the MTU is that of another
// port, and a note says so.
func TestPairPortInUse(t *testing.T) {
	c, from, to := pairOf(t)
	r, err := underlay.Reflect(netip.AddrPortFrom(to.Address, uint16(c.Port)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := c.pair(t.Context(), from, to)
	if p.Problem != "" || p.MTU != loopbackMTU {
		t.Errorf("measured %+v", p)
	}
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "of m2 is in use") {
		t.Errorf("notes %q", p.Notes)
	}
}

// TestPairUnreachable: two machines that do not reach each other, and one that has gone
// away, are a problem that says so.
func TestPairUnreachable(t *testing.T) {
	c, from, to := pairOf(t)
	at := to.at
	to.at = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.3"), at.Port())
	if p := c.pair(t.Context(), from, to); !strings.Contains(p.Problem, "machine m1") || !strings.Contains(p.Problem, "127.0.0.3") {
		t.Errorf("measured %+v", p)
	}
	to.at = at
	if err := to.stream.Close(); err != nil {
		t.Fatal(err)
	}
	if p := c.pair(t.Context(), from, to); !strings.Contains(p.Problem, "machine m2") {
		t.Errorf("measured %+v", p)
	}
}

// TestReady: a lab can use machines if each has what it needs, and all reach each other.
func TestReady(t *testing.T) {
	good := func() Report {
		d := doctor.Diagnosis{Ready: true}
		return Report{Machines: []Machine{{Name: "m1", Diagnosis: &d}}, Pairs: []Pair{{From: "m1"}}}
	}
	for name, tt := range map[string]struct {
		change func(*Report)
		want   bool
	}{
		"good":                  {func(*Report) {}, true},
		"a problem":             {func(r *Report) { r.Machines[0].Problem = "x" }, false},
		"not looked at":         {func(r *Report) { r.Machines[0].Diagnosis = nil }, false},
		"something missing":     {func(r *Report) { *r.Machines[0].Diagnosis = doctor.Diagnosis{} }, false},
		"a problem of a pair":   {func(r *Report) { r.Pairs[0].Problem = "x" }, false},
		"a note":                {func(r *Report) { r.Pairs[0].Notes = []string{"x"} }, true},
		"a machine without any": {func(r *Report) { r.Pairs = nil }, true},
	} {
		r := good()
		tt.change(&r)
		if r.judge(); r.Ready != tt.want {
			t.Errorf("%s: ready %t, want %t", name, r.Ready, tt.want)
		}
	}
}
