//go:build linux

package wire

import (
	"net/netip"
	"testing"
	"time"

	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// TestLookahead: the links' delay, or, for fast hosts behind long links, the time
// in which a quarter of a ring's bytes comes.
func TestLookahead(t *testing.T) {
	for name, c := range map[string]struct {
		rate  units.Rate
		delay time.Duration
		want  time.Duration
	}{
		"delay": {10 * units.Gbps, 25 * time.Microsecond, 25 * time.Microsecond},
		"ring":  {100 * units.Gbps, time.Second, 83886 * time.Nanosecond}, // 1 MiB at 100 Gbps
		"none":  {units.Gbps, 0, 0},
	} {
		spec := fabric.Spec{
			Switches: []string{"s"},
			Hosts:    []fabric.Host{{Name: "h", Addr: netip.MustParseAddr("10.0.0.1")}},
			Links:    []fabric.Link{{A: "h", B: "s", Rate: c.rate, Delay: c.delay}},
			Port:     queues(1, "fifo", "droptail"),
		}
		n, err := fabric.New(&event.Loop{}, spec, fabric.Attachment{Release: packet.NewPool(0).Put})
		if err != nil {
			t.Fatal(err)
		}
		if got := lookahead(n, spec, 4<<20); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestRingBytes: the rings of many ports share the memory that the rings of 32 take,
// down to a least size.
func TestRingBytes(t *testing.T) {
	for ports, want := range map[int]int{1: 4 << 20, 9: 4 << 20, 32: 4 << 20, 33: 2 << 20, 64: 2 << 20, 65: 1 << 20, 144: 1 << 20, 1000: 1 << 20} {
		if got := RingBytes(ports); got != want {
			t.Errorf("%d ports: rings of %d bytes, want %d", ports, got, want)
		}
	}
}

// TestVirtualRings: in virtual time rings are small, and yet have room for four times the
// full frames that a host of 10 Gbps sends while the switch runs ahead by a link's 25 us
// (RTT of 100 us).
func TestVirtualRings(t *testing.T) {
	c := Config{Virtual: true, Ports: make([]PortConfig, 9)}
	if got, real := c.ringBytes(), (Config{Ports: c.Ports}).ringBytes(); got >= real || real != RingBytes(9) {
		t.Errorf("rings of %d bytes in virtual time, and of %d else", got, real)
	}
	const slot, frame, sent = 2048, 1538, 25 * 10_000 / 8 // bytes in 25 us
	if slots := c.ringBytes() / slot; slots < 4*sent/frame {
		t.Errorf("%d slots are too few", slots)
	}
}
