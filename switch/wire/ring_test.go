//go:build linux

package wire

import (
	"fmt"
	"testing"

	"github.com/vishvananda/netlink"
)

// TestRefuse: what comes in while nobody empties the ring does not get there.
func TestRefuse(t *testing.T) {
	b := newBench(t, 0)
	in(t, b.sw, func() error {
		veth := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "a"}, PeerName: "b"}
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
		rings, indices := map[string]*ring{}, map[string]int{}
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
			indices[name] = l.Attrs().Index
			if err := rings[name].open(l.Attrs().Index); err != nil {
				return err
			}
		}
		out, err := openOutbox(t, indices["a"], 1, false)
		if err != nil {
			return err
		}
		f := make([]byte, 60)
		copy(f[12:], "\x88\xb5mine") // a local experimental EtherType; kernels send frames of their own
		arrived := func() bool {
			out.sends(f) // which returns when it has been received
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
