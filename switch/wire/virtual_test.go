//go:build linux

package wire

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/switch/event"
	"aqmlab/switch/fabric"
	"aqmlab/switch/packet"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// TestLookahead: the links' delay, or, for fast hosts behind long links, the time
// in which a quarter of a ring's bytes comes from all of them.
func TestLookahead(t *testing.T) {
	for name, c := range map[string]struct {
		hosts int
		rate  units.Rate
		delay time.Duration
		want  time.Duration
	}{
		"delay": {1, 10 * units.Gbps, 25 * time.Microsecond, 25 * time.Microsecond},
		"ring":  {1, 100 * units.Gbps, time.Second, 83886 * time.Nanosecond}, // 1 MiB at 100 Gbps
		"hosts": {4, 25 * units.Gbps, time.Second, 83886 * time.Nanosecond},
		"none":  {1, units.Gbps, 0, 0},
	} {
		spec := fabric.Spec{Switches: []string{"s"}, Port: queues(1, "fifo", "droptail")}
		for i := range c.hosts {
			name := string(rune('a' + i))
			spec.Hosts = append(spec.Hosts, fabric.Host{Name: name, Addr: hostAddr(i)})
			spec.Links = append(spec.Links, fabric.Link{A: name, B: "s", Rate: c.rate, Delay: c.delay})
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

// TestVirtualRings: in virtual time the one ring is smaller than the others are together,
// and yet has room for four times the full frames that hosts of 10 Gbps send while the
// switch runs ahead by their links' 25 us (RTT of 100 us).
func TestVirtualRings(t *testing.T) {
	for _, hosts := range []int{1, 2, 8, 9, 144} {
		c := Config{Virtual: true, Ports: make([]PortConfig, hosts)}
		if got, real := c.ringBytes(), (Config{Ports: c.Ports}).ringBytes(); got >= hosts*real || real != RingBytes(hosts) {
			t.Errorf("%d hosts: a ring of %d bytes in virtual time, and of %d each else", hosts, got, real)
		}
		const slot, frame, sent = 2048, 1538, 25 * 10_000 / 8 // bytes in 25 us
		if slots := c.ringBytes() / slot; slots < hosts*4*sent/frame {
			t.Errorf("%d hosts: %d slots are too few", hosts, slots)
		}
	}
}

// TestTogether: of a ring that is for all ports it is known by which port each frame came
// in. What comes in by an interface that is no port is nobody's.
func TestTogether(t *testing.T) {
	b := newBench(t, 4)
	in(t, b.sw, func() (err error) {
		c := Config{Ports: []PortConfig{b.ports[2], b.ports[0], b.ports[3]}, MTU: 1500, CPU: -1, Virtual: true}
		s, err := Open(c, port.Kinds{})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		all := &s.inlets[0]
		if err := all.refuse(false); err != nil {
			return err
		}
		for host, want := range []int{1, -1, 0, 2} {
			sendOne(t, b, host)
			f, ok := all.peek()
			if !ok {
				return fmt.Errorf("host %d: its frame did not come", host)
			}
			if got := all.portOf(f); got != want {
				t.Errorf("host %d: its frame came by port %d, want %d", host, got, want)
			}
			all.pop(f)
		}
		return nil
	})
}

// sendOne sends a frame from host i, and returns when the other end has received it.
func sendOne(t *testing.T, b *bench, i int) {
	in(t, b.hosts[i], func() error {
		indices, err := find([]PortConfig{{Interface: "eth0"}})
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		f := make([]byte, 60)
		copy(f, b.ports[i].MAC)
		f[12], f[13] = 0x88, 0xb5 // an experimental Ethertype
		return unix.Sendto(fd, f, 0, &unix.SockaddrLinklayer{Ifindex: indices[0]})
	})
}
