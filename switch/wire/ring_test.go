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
