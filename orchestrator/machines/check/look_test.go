package check

import (
	"errors"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/netns"
)

// finding is the one of that part.
func finding(t *testing.T, d doctor.Diagnosis, part string) doctor.Finding {
	t.Helper()
	i := slices.IndexFunc(d.Findings, func(f doctor.Finding) bool { return f.Part == part })
	if i < 0 {
		t.Fatalf("nothing is said of %s: %+v", part, d.Findings)
	}
	return d.Findings[i]
}

// TestLook: a machine is looked at as doctor does. What links between machines need comes
// on top: their address, VXLAN, and packets that are not merged.
func TestLook(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	loopback := netip.MustParseAddr("127.0.0.1")
	d := look(Outlet{At: netip.AddrPortFrom(loopback, 4789)})
	if finding(t, d, "hosts"); d.Machine.Kernel == "" || d.Machine.Cores == 0 {
		t.Errorf("machine %+v", d.Machine)
	}
	if f := finding(t, d, "address"); !f.OK || !strings.Contains(f.Text, "lo,") {
		t.Errorf("an address that is there: %+v", f)
	}
	if f := finding(t, d, "links to machines"); !f.OK || !strings.Contains(f.Text, "4789") {
		t.Errorf("VXLAN: %+v", f)
	}
	if d.Ready != !slices.ContainsFunc(d.Findings, func(f doctor.Finding) bool { return f.Needed && !f.OK }) {
		t.Errorf("ready %t: %+v", d.Ready, d.Findings)
	}
	d = look(Outlet{At: netip.MustParseAddrPort("192.0.2.77:4789")})
	if f := finding(t, d, "address"); f.OK || d.Ready || !strings.Contains(f.Text, "192.0.2.77") || !strings.Contains(f.Remedy, "address") {
		t.Errorf("ready %t with an address that is not there: %+v", d.Ready, f)
	}
}

// TestMerging: the kernel merges what comes in by every interface that does not say
// otherwise, such as the loopback. Between the ends of a veth it does not.
func TestMerging(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	err := netns.Scratch("probe0", func(veth netlink.Link) error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		if f := findMerging(lo); f.OK || f.Needed || !strings.Contains(f.Text, "lo ") || !strings.Contains(f.Remedy, "ethtool -K lo gro off") {
			t.Errorf("of the loopback: %+v", f)
		}
		if f := findMerging(veth); !f.OK {
			t.Errorf("of a veth: %+v", f)
		}
		bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "bridge0"}}
		if err := errors.Join(netlink.LinkAdd(bridge), netlink.LinkSetMaster(veth, bridge)); err != nil {
			return err
		}
		if f := findMerging(bridge); !f.OK {
			t.Errorf("of a bridge, whose port is a veth: %+v", f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLowest: packets come in by the ports of a bridge and of a bond, and by what a VLAN is
// on. A veth names its peer as its parent, by which nothing comes in.
func TestLowest(t *testing.T) {
	device := func(index, master, parent int, name string) netlink.LinkAttrs {
		return netlink.LinkAttrs{Index: index, MasterIndex: master, ParentIndex: parent, Name: name}
	}
	bridge := &netlink.Bridge{LinkAttrs: device(1, 0, 0, "br0")}
	vlan := &netlink.Vlan{LinkAttrs: device(2, 1, 3, "bond0.7")}
	bond := &netlink.Bond{LinkAttrs: device(3, 0, 0, "bond0")}
	veth := &netlink.Veth{LinkAttrs: device(6, 0, 4, "veth0")}
	all := []netlink.Link{
		bridge, vlan, bond, veth,
		&netlink.Device{LinkAttrs: device(4, 3, 0, "eth0")},
		&netlink.Device{LinkAttrs: device(5, 3, 0, "eth1")},
	}
	for of, want := range map[netlink.Link]string{bridge: "eth0 eth1", vlan: "eth0 eth1", bond: "eth0 eth1", veth: "veth0"} {
		if got := strings.Join(lowest(of, all), " "); got != want {
			t.Errorf("packets of %s come in by %s, want %s", of.Attrs().Name, got, want)
		}
	}
}
