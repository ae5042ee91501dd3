//go:build linux

package wire

import (
	"errors"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// TestOutbox sends more frames than one call takes, one of which is too long for
// its link: that one is counted, and all others arrive in their order.
func TestOutbox(t *testing.T) {
	b := newBench(t, 2)
	b.virtual = true
	stop := b.start(t, b.spec(units.Gbps, queues(1, "fifo", "droptail")), 1)
	defer stop()
	const n, long = batch, 100
	var got []byte
	in(t, b.sw, func() (err error) {
		indices, err := find([]PortConfig{{Interface: "p0"}})
		if err != nil {
			return err
		}
		r, err := newRing("p0", ringMost, 1500)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, r.close()) }()
		o, err := newOutbox(indices)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.close()) }()
		peer, err := listenOn(t, b, 0)
		if err != nil {
			return err
		}
		defer unix.Close(peer)
		pool := packet.NewPool(0)
		for i := range n {
			k := pool.Get()
			k.Frame = append(k.Frame[:0], make([]byte, 60)...)
			copy(k.Frame, b.ports[0].Far)
			k.Frame[12], k.Frame[13], k.Frame[14] = 0x88, 0xb5, byte(i) // an experimental Ethertype
			if i == long {
				k.Frame = append(k.Frame, make([]byte, 2000)...)
			}
			o.add(0, k, 0)
		}
		if len(o.packets) < batch {
			t.Errorf("%d frames do not fill it", n)
		}
		if lost := o.send(); lost != 1 {
			t.Errorf("%d frames were not sent, want 1", lost)
		}
		o.packets = o.packets[:0]
		frame := make([]byte, 2100)
		for range n - 1 {
			m, _, err := unix.Recvfrom(peer, frame, 0)
			if err != nil {
				return err
			}
			got = append(got, frame[:m][14])
		}
		return nil
	})
	want := 0
	for _, number := range got {
		if want == long {
			want++
		}
		if int(number) != want {
			t.Fatalf("frame %d arrived for %d", number, want)
		}
		want++
	}
}

// listenOn is a packet socket of host i for the experimental Ethertype.
func listenOn(t *testing.T, b *bench, i int) (fd int, err error) {
	const ethertype = 0xb588 // in network order
	in(t, b.hosts[i], func() error {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, ethertype)
		return err
	})
	if err == nil {
		err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10})
	}
	return fd, err
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
