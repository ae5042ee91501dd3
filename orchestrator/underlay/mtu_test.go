package underlay_test

import (
	"errors"
	"net/netip"
	"os"
	"testing"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"

	"aqmlab/orchestrator/netns"
	"aqmlab/orchestrator/underlay"
)

// TestMTUOfPath: what does not get through counts, whatever the sender's interface takes.
func TestMTUOfPath(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	near, far := "aqmtest-near", "aqmtest-far"
	for _, name := range []string{near, far} {
		t.Cleanup(func() {
			if err := vns.DeleteNamed(name); err != nil {
				t.Error(err)
			}
		})
		err := netns.Do("", func() error {
			ns, err := vns.NewNamed(name)
			return errors.Join(err, ns.Close())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const device, nearMTU, farMTU = "under0", 9000, 1600
	in(t, near, func() error {
		to, err := vns.GetFromName(far)
		if err != nil {
			return err
		}
		defer to.Close()
		veth := netlink.NewVeth(netlink.LinkAttrs{Name: device, MTU: nearMTU})
		veth.PeerName, veth.PeerNamespace = device, netlink.NsFd(to)
		return errors.Join(netlink.LinkAdd(veth), up(device, "192.0.2.1/24", nearMTU))
	})
	in(t, far, func() error { return up(device, "192.0.2.2/24", farMTU) })
	var r *underlay.Reflector
	in(t, far, func() (err error) {
		r, err = underlay.Reflect(netip.MustParseAddrPort("192.0.2.2:4789"))
		return err
	})
	in(t, near, func() (err error) {
		for range 20 { // the kernel takes a while to tell that the link is up
			if _, err = underlay.Compare(t.Context(), r.Addr()); err == nil {
				return nil
			}
		}
		return err
	})
	in(t, near, func() error {
		mtu, err := underlay.MTU(t.Context(), r.Addr())
		const tag = 4 // a veth lets pass what a VLAN tag would add
		if mtu < farMTU || mtu > farMTU+tag {
			t.Errorf("MTU %d, want that of the far end, %d", mtu, farMTU)
		}
		return err
	})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	in(t, near, func() error {
		if mtu, err := underlay.MTU(t.Context(), r.Addr()); err == nil {
			t.Errorf("MTU %d to a port at which nobody answers", mtu)
		}
		return nil
	})
}

func in(t *testing.T, namespace string, do func() error) {
	t.Helper()
	if err := netns.Do(namespace, do); err != nil {
		t.Fatal(err)
	}
}

func up(device, addr string, mtu int) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return err
	}
	ip, err := netlink.ParseAddr(addr)
	if err != nil {
		return err
	}
	return errors.Join(netlink.LinkSetMTU(link, mtu), netlink.AddrAdd(link, ip), netlink.LinkSetUp(link))
}
