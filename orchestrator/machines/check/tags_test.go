package check

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/netns"
)

const taggedMTU = 1600

// network makes the interfaces check1 and check2, and between them a bridge that lets VLANs
// 100 and 101 pass, and no other frames.
func network(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	if err := netns.CanVLAN(); err != nil {
		t.Skipf("this kernel has no VLANs (8021q): %v", err)
	}
	filter, none := true, uint16(0)
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "checkbr", MTU: taggedMTU}, VlanFiltering: &filter, VlanDefaultPVID: &none}
	add := func(link netlink.Link) {
		if err := netlink.LinkAdd(link); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := netlink.LinkDel(link); err != nil {
				t.Error(err)
			}
		})
	}
	add(bridge)
	for _, name := range []string{"check1", "check2"} {
		veth := netlink.NewVeth(netlink.LinkAttrs{Name: name, MTU: taggedMTU})
		veth.PeerName, veth.PeerMTU = name+"b", taggedMTU
		add(veth)
		port, err := netlink.LinkByName(name + "b")
		if err != nil {
			t.Fatal(err)
		}
		err = errors.Join(
			netlink.LinkSetMaster(port, bridge), netlink.BridgeVlanAdd(port, 100, false, false, false, true), netlink.BridgeVlanAdd(port, 101, false, false, false, true),
			netlink.LinkSetUp(bridge), netlink.LinkSetUp(port), netlink.LinkSetUp(veth),
		)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestVLANPair: where links are VLANs, those that the network does not let pass are told,
// and the MTU is that of the others. Who has one in use already is told, too. Nothing is
// left on the interfaces.
func TestVLANPair(t *testing.T) {
	network(t)
	check := func(t *testing.T, ids ...int) Pair {
		c, from, to := pairOf(t)
		c.VLANs = ids
		for i, s := range []*site{from, to} {
			s.Interface = []string{"check1", "check2"}[i]
			if err := s.tag(t.Context(), ids, i+1); err != nil {
				t.Fatal(err)
			}
		}
		c.MTU = taggedMTU
		p := c.pair(t.Context(), from, to)
		if p.RTT <= 0 || p.Forth <= 0 || p.Back <= 0 {
			t.Errorf("measured %+v", p)
		}
		return p
	}
	t.Run("all pass", func(t *testing.T) {
		if p := check(t, 100, 101); p.Problem != "" || len(p.Notes) > 0 || p.MTU != taggedMTU || p.HostMTU != taggedMTU {
			t.Errorf("measured %+v", p)
		}
	})
	t.Run("some do not", func(t *testing.T) {
		p := check(t, 99, 100, 101, 102, 103)
		for _, want := range []string{"VLANs 99,102-103 between check1 of m1 and check2 of m2", "leave the ids out of vlans"} {
			if !strings.Contains(p.Problem, want) {
				t.Errorf("%q is not in %q", want, p.Problem)
			}
		}
		if p.MTU != taggedMTU {
			t.Errorf("measured %+v", p)
		}
	})
	t.Run("none does", func(t *testing.T) {
		if p := check(t, 102); p.MTU != 0 || !strings.Contains(p.Problem, "nothing passes in VLAN 102 ") {
			t.Errorf("measured %+v", p)
		}
	})
	t.Run("one is in use", func(t *testing.T) {
		on, err := netlink.LinkByName("check2")
		if err != nil {
			t.Fatal(err)
		}
		own := &netlink.Vlan{LinkAttrs: netlink.LinkAttrs{Name: "check2.101", ParentIndex: on.Attrs().Index}, VlanId: 101}
		if err := netlink.LinkAdd(own); err != nil {
			t.Fatal(err)
		}
		p := check(t, 100, 101)
		if p.Problem != "" || p.MTU != taggedMTU || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "m2 has VLAN 101 in use on check2") {
			t.Errorf("measured %+v", p)
		}
		if err := netlink.LinkDel(own); err != nil {
			t.Error(err)
		}
	})
	t.Run("too small", func(t *testing.T) {
		on, err := netlink.LinkByName("check2")
		if err != nil {
			t.Fatal(err)
		}
		if err := netlink.LinkSetMTU(on, taggedMTU-100); err != nil {
			t.Fatal(err)
		}
		if p := check(t, 100); p.MTU != taggedMTU-100 || !strings.Contains(p.Problem, "no more than 1500 fit") || !strings.Contains(p.Problem, "to 1600 at least") {
			t.Errorf("measured %+v", p)
		}
	})
}

// TestLookVLAN: a machine whose links are VLANs must have their interface, and the kernel
// what they take.
func TestLookVLAN(t *testing.T) {
	network(t)
	d := look(Outlet{Interface: "check1"})
	if f := finding(t, d, "interface"); !f.OK || !strings.Contains(f.Text, "check1 is up, and its MTU is 1600") {
		t.Errorf("an interface that is there: %+v", f)
	}
	if f := finding(t, d, "links to machines"); !f.OK || !strings.Contains(f.Text, "VLANs of check1") {
		t.Errorf("VLANs: %+v", f)
	}
	if f := finding(t, d, "merging"); !f.OK {
		t.Errorf("merging of a veth: %+v", f)
	}
	d = look(Outlet{Interface: "check7"})
	f := finding(t, d, "interface")
	if f.OK || d.Ready || !strings.Contains(f.Text, "no interface check7") || !strings.Contains(f.Text, "check1") || !strings.Contains(f.Remedy, "key interface") {
		t.Errorf("ready %t without the interface: %+v", d.Ready, f)
	}
	if slices.ContainsFunc(d.Findings, func(f doctor.Finding) bool { return f.Part == "merging" }) {
		t.Errorf("merging of an interface that is not there: %+v", d.Findings)
	}
}
