package fabric

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/switch/event"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

const us = time.Microsecond

func plainPort() port.Spec {
	return port.Spec{
		Queues:    1,
		Buffer:    units.MB,
		Scheduler: kind.Choice{Kind: "fifo"},
		Scheme:    kind.Choice{Kind: "droptail"},
	}
}

// star is n hosts around one switch.
func star(n int, rate units.Rate, delay time.Duration) Spec {
	s := Spec{Switches: []string{"s1"}, Port: plainPort()}
	for i := range n {
		name := fmt.Sprintf("h%d", i+1)
		s.Hosts = append(s.Hosts, Host{Name: name, Addr: netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)})})
		s.Links = append(s.Links, Link{A: name, B: "s1", Rate: rate, Delay: delay})
	}
	return s
}

// delivery is what an edge saw.
type delivery struct {
	at   time.Duration
	host int
	size int32
}

// rig is a network whose edge writes down deliveries.
type rig struct {
	event.Loop
	*Network
	pool packet.Pool
	log  []delivery
}

func (r *rig) Deliver(now time.Duration, host int, k *packet.Packet) {
	r.log = append(r.log, delivery{now, host, k.Size})
	r.pool.Put(k)
}

func newRig(t testing.TB, spec Spec) *rig {
	t.Helper()
	r := &rig{}
	n, err := New(&r.Loop, spec, Attachment{Edge: r, Release: r.pool.Put})
	if err != nil {
		t.Fatal(err)
	}
	r.Network = n
	return r
}

func (r *rig) send(at time.Duration, src, dst int, size int32) {
	k := r.pool.Get()
	k.Src, k.Dst, k.Size, k.DSCP, k.ECN = int32(src), int32(dst), size, 0, packet.NotECT
	r.Send(at, src, k)
}

// TestStoreAndForward: a packet of 1500 bytes takes 12.304 us on each 1 Gbps
// link (1538 bytes on the wire), plus the delays.
func TestStoreAndForward(t *testing.T) {
	r := newRig(t, star(3, units.Gbps, 10*us))
	r.send(5*us, 0, 1, 1500)
	r.send(5*us, 0, 1, 1500) // behind it on the uplink
	r.send(5*us, 2, 1, 962)  // 8 us on the wire: reaches the switch first
	r.RunUntil(time.Millisecond)
	const full, short = 12304 * time.Nanosecond, 8 * us
	free := 5*us + short + 10*us + short // when the port has sent the short one
	want := []delivery{
		{free + 10*us, 1, 962},
		{free + full + 10*us, 1, 1500}, // arrived at 27.304 us, port free at 31 us
		{free + 2*full + 10*us, 1, 1500},
	}
	if !slices.Equal(r.log, want) {
		t.Errorf("got  %v\nwant %v", r.log, want)
	}
	if r.pool.Taken() != 0 {
		t.Errorf("%d packets are not accounted for", r.pool.Taken())
	}
}

// TestPortsRunAtLineRate: 1000 full packets from two hosts leave a port back to
// back, without a gap or a rounding error.
func TestPortsRunAtLineRate(t *testing.T) {
	for _, rate := range []units.Rate{units.Gbps, 10 * units.Gbps, 100 * units.Gbps} {
		spec := star(3, rate, us)
		spec.Port.Buffer = 10 * units.MB
		r := newRig(t, spec)
		for range 500 {
			r.send(0, 0, 2, 1500)
			r.send(0, 1, 2, 1500)
		}
		r.RunUntil(time.Second)
		if len(r.log) != 1000 {
			t.Fatalf("%v: %d packets arrived", rate, len(r.log))
		}
		took := r.log[999].at - r.log[0].at
		if want := rate.Time(999 * 1538); took < want-1 || took > want+1 {
			t.Errorf("%v: 999 packets took %v, want %v", rate, took, want)
		}
	}
}

func TestDropsGoBackToThePool(t *testing.T) {
	spec := star(3, units.Gbps, us)
	spec.Port.Buffer = 3000
	r := newRig(t, spec)
	for range 10 {
		r.send(0, 0, 2, 1500)
		r.send(0, 1, 2, 1500)
	}
	r.RunUntil(time.Second)
	var drops int64
	for _, p := range r.Ports() {
		drops += p.Count(0).DropsFull
	}
	if drops == 0 || len(r.log)+int(drops) != 20 || r.pool.Taken() != 0 {
		t.Errorf("%d delivered, %d dropped, %d held of 20", len(r.log), drops, r.pool.Taken())
	}
}

// TestLateNotice: a frame noticed after it was sent still reaches the switch in
// time when the link's delay covers the lag; otherwise it is moved and counted.
func TestLateNotice(t *testing.T) {
	r := newRig(t, star(2, units.Gbps, 50*us))
	r.RunUntil(40 * us)
	r.send(0, 0, 1, 1500)
	r.RunUntil(time.Millisecond)
	if want := 2 * (12304 + 50000) * time.Nanosecond; r.log[0].at != want || r.Clamped() != 0 {
		t.Errorf("arrived at %v (want %v), %d clamped", r.log[0].at, want, r.Clamped())
	}
	r.send(time.Millisecond-100*us, 0, 1, 1500)
	r.RunUntil(2 * time.Millisecond)
	if want := time.Millisecond + (12304+50000)*time.Nanosecond; r.log[1].at != want || r.Clamped() != 1 {
		t.Errorf("arrived at %v (want %v), %d clamped", r.log[1].at, want, r.Clamped())
	}
}

// leafSpine is 2 leaves with 2 hosts each, and 4 spines.
func leafSpine() Spec {
	s := star(4, units.Gbps, us)
	s.Switches, s.Links = []string{"l1", "l2", "p1", "p2", "p3", "p4"}, nil
	for i, h := range s.Hosts {
		s.Links = append(s.Links, Link{A: h.Name, B: []string{"l1", "l2"}[i/2], Rate: units.Gbps, Delay: us})
	}
	for _, leaf := range s.Switches[:2] {
		for _, spine := range s.Switches[2:] {
			s.Links = append(s.Links, Link{A: leaf, B: spine, Rate: units.Gbps, Delay: us})
		}
	}
	return s
}

// TestECMP: flows between racks spread over all spines, a flow keeps its path,
// and a rack's own traffic stays in it.
func TestECMP(t *testing.T) {
	r := newRig(t, leafSpine())
	at := time.Duration(0)
	send := func(dst int32, hash uint32) {
		k := r.pool.Get()
		k.Dst, k.Size, k.Hash, k.DSCP = dst, 1000, hash*2654435761, 0
		r.Send(at, 0, k)
		at += 100 * us
		r.RunUntil(at)
	}
	spines := func() (used int, packets int64) {
		for _, p := range r.Ports() {
			if p.Switch == "l1" && strings.HasPrefix(p.Far, "p") {
				n := p.Count(0).Sent
				packets += n
				if n > 0 {
					used++
				}
			}
		}
		return used, packets
	}
	send(1, 7)
	if _, n := spines(); n != 0 {
		t.Error("a packet to the same rack went to a spine")
	}
	for range 5 {
		send(3, 7)
	}
	if used, n := spines(); used != 1 || n != 5 {
		t.Errorf("one flow used %d spines (%d packets)", used, n)
	}
	for hash := range uint32(4000) {
		send(3, hash)
	}
	for _, p := range r.Ports() {
		if p.Switch == "l1" && strings.HasPrefix(p.Far, "p") {
			if n := p.Count(0).Sent; n < 850 || n > 1150 {
				t.Errorf("spine %s carries %d of 4000 flows, want about 1000", p.Far, n)
			}
		}
	}
	if len(r.log) != 4006 || r.pool.Taken() != 0 {
		t.Errorf("%d delivered, %d held", len(r.log), r.pool.Taken())
	}
}

func TestBadSpecs(t *testing.T) {
	tests := map[string]func(*Spec){
		"address":            func(s *Spec) { s.Hosts[1].Addr = s.Hosts[0].Addr },
		"two nodes":          func(s *Spec) { s.Switches = append(s.Switches, "h1") },
		"no such node":       func(s *Spec) { s.Links[0].B = "s9" },
		"itself":             func(s *Spec) { s.Links[0].B = "h1" },
		"0 links":            func(s *Spec) { s.Links = s.Links[1:] },
		"2 links":            func(s *Spec) { s.Links = append(s.Links, s.Links[0]) },
		"rate":               func(s *Spec) { s.Links[0].Rate = 0 },
		"delay":              func(s *Spec) { s.Links[0].Delay = -1 },
		"jitter -1":          func(s *Spec) { s.Links[0].Jitter = -1 },
		"loss rate 1 ":       func(s *Spec) { s.Links[0].LossRate = 1 },
		"loss rate -0.1":     func(s *Spec) { s.Links[0].LossRate = -0.1 },
		"loss rate NaN":      func(s *Spec) { s.Links[0].LossRate = math.NaN() },
		"port to h1":         func(s *Spec) { s.Port.Scheme.Kind = "blue" },
		"no path from h2 to": func(s *Spec) { s.Switches = append(s.Switches, "s2"); s.Links[1].B = "s2" },
	}
	for want, spoil := range tests {
		spec := star(3, units.Gbps, us)
		spoil(&spec)
		var loop event.Loop
		if _, err := New(&loop, spec, Attachment{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}

// BenchmarkHop is the cost of one packet through uplink, switch and downlink.
func BenchmarkHop(b *testing.B) {
	spec := star(9, 10*units.Gbps, us)
	spec.Port.Queues, spec.Port.Scheduler.Kind, spec.Port.Scheme = 4, "dwrr", kind.Choice{Kind: "tcn", Params: map[string]any{"threshold": "100us"}}
	r := newRig(b, spec)
	r.log = make([]delivery, 0, 1024)
	b.ReportAllocs()
	at, i := time.Duration(0), 0
	for b.Loop() {
		k := r.pool.Get()
		k.Dst, k.Size, k.DSCP, k.ECN = 8, 1500, uint8(i&3), packet.ECT0
		r.Send(at, i&7, k)
		i++
		at += 1300
		r.RunUntil(at)
		r.log = r.log[:0]
	}
}
