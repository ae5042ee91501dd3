//go:build linux

package wire

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/host"
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
		r, err := newRing("top", ringLeast, 1500)
		if err != nil {
			return err
		}
		defer r.close()
		if err := r.open(index); err != nil {
			return err
		}
		f := make([]byte, 1514)
		f[0], f[5], f[12] = 2, 9, 8 // a unicast destination; IPv4
		for n := range 1000 {
			if !r.send(f) {
				return fmt.Errorf("frame %d of 1000 is lost", n)
			}
		}
		return nil
	})
}

// TestRefuse: what comes in while nobody empties the ring does not get there.
func TestRefuse(t *testing.T) {
	b := newBench(t, 0)
	in(t, b.sw, func() error {
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a"}, PeerName: "b"}
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
		rings := map[string]*ring{}
		for _, name := range []string{"a", "b"} {
			l, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if err := netlink.LinkSetUp(l); err != nil {
				return err
			}
			if rings[name], err = newRing(name, ringLeast, 1500); err != nil {
				return err
			}
			defer rings[name].close()
			if err := rings[name].open(l.Attrs().Index); err != nil {
				return err
			}
		}
		f := make([]byte, 60)
		copy(f[12:], "\x88\xb5mine") // a local experimental EtherType; kernels send frames of their own
		arrived := func() bool {
			rings["a"].send(f) // which returns when it has been received
			for g, ok := rings["b"].peek(); ok; g, ok = rings["b"].peek() {
				mine := string(g.data[14:18]) == "mine"
				if rings["b"].pop(g); mine {
					return true
				}
			}
			return false
		}
		for _, refused := range []bool{true, false, true} {
			if err := rings["b"].refuse(refused); err != nil {
				return err
			}
			if got := arrived(); got == refused {
				return fmt.Errorf("arrived: %v, refused: %v", got, refused)
			}
		}
		return nil
	})
}
