//go:build linux

package wire

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
	"aqmlab/switch/packet"
	"aqmlab/units"
)

// slowDevice makes a device that takes frames and keeps them, as a host does whose CPU is
// elsewhere: below it is one with a token bucket that lets no more than a frame a second pass. It returns its
// index.
func slowDevice(name string) (int, error) {
	below := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "below"}, PeerName: "peer"}
	if err := netlink.LinkAdd(below); err != nil {
		return 0, err
	}
	slow := &netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: below.Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       1000, Buffer: netlink.Xmittime(1000, 2000), Limit: 16 << 20,
	}
	if err := netlink.QdiscReplace(slow); err != nil {
		return 0, fmt.Errorf("making a slow device: %w", err)
	}
	top := &netlink.Macvlan{LinkAttrs: netlink.LinkAttrs{Name: name, ParentIndex: below.Index}, Mode: netlink.MACVLAN_MODE_VEPA}
	if err := netlink.LinkAdd(top); err != nil {
		return 0, err
	}
	for _, n := range []string{"peer", "below", name} {
		l, err := netlink.LinkByName(n)
		if err != nil {
			return 0, err
		}
		if err := netlink.LinkSetUp(l); err != nil {
			return 0, err
		}
	}
	return top.Index, nil
}

// openOutbox opens one for so many frames to an interface. It is closed when the test ends.
func openOutbox(t *testing.T, index, frames int, inTime bool) (*outbox, error) {
	o := newOutbox([]int{index}, frames)
	t.Cleanup(func() {
		for _, fd := range o.sockets() {
			_ = unix.Close(fd)
		}
	})
	return o, o.open(inTime)
}

// sends tells whether the kernel takes a frame.
func (o *outbox) sends(frame []byte) bool {
	o.add(&packet.Packet{Frame: frame}, 0, 0, 0)
	defer func() { o.packets, o.due, o.by = o.packets[:0], o.due[:0], o.by[:0] }()
	return o.send() == 0
}

// fullFrame is a unicast one of IPv4 of the usual MTU.
func fullFrame() []byte {
	f := make([]byte, 1514)
	f[0], f[5], f[12] = 2, 9, 8
	return f
}

// TestPending: what a host has not taken yet is not lost as long as the kernel has room
// for it, which is for 1000 frames in the queue before its stack.
func TestPending(t *testing.T) {
	if host.InUserNamespace() {
		t.Skip("root of a user namespace has less room")
	}
	b := newBench(t, 0)
	in(t, b.sw, func() error {
		index, err := slowDevice("top")
		if err != nil {
			return err
		}
		o, err := openOutbox(t, index, 1, false)
		if err != nil {
			return err
		}
		for n := range 1000 {
			if !o.sends(fullFrame()) {
				return fmt.Errorf("frame %d of 1000 is lost", n)
			}
		}
		return nil
	})
}

// TestNextSocket: where a socket has no room left the next one sends, so that together
// they have as much room as one after the other. Then what finds none is lost. The socket of
// a frame's interface comes first.
func TestNextSocket(t *testing.T) {
	b := newBench(t, 0)
	in(t, b.sw, func() error {
		index, err := slowDevice("top")
		if err != nil {
			return err
		}
		var fds, own []int // with little room
		for range 4 {
			o, err := openOutbox(t, index, 1, false)
			if err != nil {
				return err
			}
			fds, own = append(fds, o.fds[0]), append(own, o.own[0])
			for _, fd := range o.sockets() {
				if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 20_000); err != nil {
					return err
				}
			}
		}
		room := func(fds, own []int) (frames int) {
			o := newOutbox([]int{index}, 1)
			o.fds, o.own = fds, own
			for o.sends(fullFrame()) {
				frames++
			}
			return frames
		}
		room(fds[:1], nil) // which uses up what the device lets pass
		one := room(fds[1:2], nil)
		if pair := room(fds[2:4], nil); one == 0 || pair != 2*one {
			return fmt.Errorf("%d frames found room, %d with two sockets", one, pair)
		}
		if full := room(fds[1:2], own[:1]); full != one {
			return fmt.Errorf("%d frames found room, %d by the interface's socket", one, full)
		}
		return nil
	})
}

// TestOutbox sends frames of which one is too long for its link: that one is counted, and
// all others arrive in their order.
func TestOutbox(t *testing.T) {
	for name, c := range map[string]Config{"at once": {}, "in time": {Virtual: true}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, 2)
			b.virtual = c.Virtual
			stop := b.start(t, b.spec(units.Gbps, queues(1, "fifo", "droptail")), 1)
			defer stop()
			const long = 20
			got := b.through(t, c, long)
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
		})
	}
}

// through fills an outbox with frames that have a number, one of which is too long, sends
// them to the first host, and returns the numbers that arrived there.
func (b *bench) through(t *testing.T, c Config, long int) (got []byte) {
	in(t, b.sw, func() error {
		indices, err := find([]PortConfig{{Interface: "p0"}})
		if err != nil {
			return err
		}
		o, err := openOutbox(t, indices[0], c.together(), c.Virtual)
		if err != nil {
			return err
		}
		peer, err := listenOn(t, b, 0)
		if err != nil {
			return err
		}
		defer unix.Close(peer)
		pool := packet.NewPool(0)
		for i := range c.together() {
			if o.full() {
				t.Errorf("it is full with %d frames", i)
			}
			k := pool.Get()
			k.Frame = append(k.Frame[:0], make([]byte, 60)...)
			copy(k.Frame, b.ports[0].Far)
			k.Frame[12], k.Frame[13], k.Frame[14] = 0x88, 0xb5, byte(i) // an experimental Ethertype
			if i == long {
				k.Frame = append(k.Frame, make([]byte, 2000)...)
			}
			o.add(k, 0, 0, 0)
		}
		if lost := o.send(); lost != 1 || !o.full() {
			t.Errorf("%d frames were not sent, want 1; it is full: %v", lost, o.full())
		}
		o.clear(pool)
		if out := pool.Taken(); out != 0 {
			t.Errorf("%d packets are not back in their pool", out)
		}
		frame := make([]byte, 2100)
		for range c.together() - 1 {
			m, _, err := unix.Recvfrom(peer, frame, 0)
			if err != nil {
				return err
			}
			got = append(got, frame[:m][14])
		}
		return nil
	})
	return got
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
