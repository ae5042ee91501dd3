package netns_test

import (
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/netns"
)

// needVLANs skips a test where the kernel makes no VLANs.
func needVLANs(t *testing.T) {
	t.Helper()
	needRoot(t)
	if err := netns.CanVLAN(); err != nil {
		t.Skipf("this kernel has no VLANs (8021q): %v", err)
	}
}

// byVLANs is a lab of nodes at machines of a rack, whose links are VLANs from id 100 on.
func byVLANs(outer map[string]netip.Addr, at map[string]string) netns.Spread {
	s := netns.Spread{Machines: at, Outer: outer, Interfaces: map[string]string{}, VLANs: []int{100, 101, 4094}, Number: 0x1234}
	for m := range outer {
		s.Interfaces[m] = "rack0"
	}
	return s
}

// vlanRack is a rack of two machines, and a lab with three hosts, two of which are away
// from the switch.
func vlanRack(t *testing.T, mtu int) (p netns.Plan, machines []string, s netns.Spread) {
	t.Helper()
	machines = []string{"aqmtest-m1", "aqmtest-m2"}
	outer := rack(t, mtu, machines...)
	p = plan(3)
	return p, machines, byVLANs(outer, map[string]string{
		p.Switches[0]: machines[0], p.Hosts[0]: machines[0], p.Hosts[1]: machines[1], p.Hosts[2]: machines[1],
	})
}

// TestVLAN: links between machines may be VLANs of their interfaces. Packets may then be as
// large as those of the interfaces. Once the lab is removed, the ids are free at once.
func TestVLAN(t *testing.T) {
	needVLANs(t)
	p, machines, s := vlanRack(t, plan(1).MTU)
	for range 2 {
		lab := spreadOver(t, p, machines, s)
		for i, id := range []int{0, 100, 101} { // of each host's link: the first does not leave its machine
			in(t, lab.Hosts[i].Namespace, func() error {
				link, err := netlink.LinkByName(netns.Device)
				if err != nil {
					return err
				}
				v, is := link.(*netlink.Vlan)
				if is != (id > 0) || is && (v.VlanId != id || v.VlanProtocol != netlink.VLAN_PROTOCOL_8021Q) {
					t.Errorf("%s has %+v; want a VLAN with id %d, or none if that is 0", lab.Hosts[i].Name, link, id)
				}
				return nil
			})
		}
		carries(t, p, lab)
		if err := lab.Down(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestVLANTrunk: so may links between switches.
func TestVLANTrunk(t *testing.T) {
	needVLANs(t)
	machines := []string{"aqmtest-m1", "aqmtest-m2"}
	p, at := trunkPlan(machines)
	s := byVLANs(rack(t, p.MTU, machines...), at)
	s.VLANs = []int{4094}
	trunkCarries(t, p, spreadOver(t, p, machines, s))
}

// TestVLANInUse: an id that somebody has on the interface is refused by name, whatever
// namespace it is used in, and nothing is left. Who is about to go is waited for.
func TestVLANInUse(t *testing.T) {
	needVLANs(t)
	p, machines, s := vlanRack(t, plan(1).MTU)
	other, taken := plan(1), s
	taken.Machines, taken.VLANs = map[string]string{other.Switches[0]: machines[0], other.Hosts[0]: machines[1]}, []int{101}
	lab := spreadOver(t, other, machines, taken)
	_, err := trySpread(t, p, machines, s)
	if !errors.Is(err, netns.ErrVLANInUse) || !strings.Contains(err.Error(), "rack0 has one of id 101") {
		t.Errorf("error %v; want that 101 is in use", err)
	}
	gone := make(chan error, 1)
	time.AfterFunc(500*time.Millisecond, func() { gone <- lab.Down() })
	spreadOver(t, p, machines, s)
	if err := <-gone; err != nil {
		t.Error(err)
	}
}

// TestVLANRefused: what keeps VLANs from being made is told with what would do.
func TestVLANRefused(t *testing.T) {
	needVLANs(t)
	p, machines, good := vlanRack(t, plan(1).MTU)
	for name, tt := range map[string]struct {
		change func(*netns.Plan, *netns.Spread)
		want   []string
	}{
		"no such interface": {func(_ *netns.Plan, s *netns.Spread) { s.Interfaces[machines[0]] = "eth7" }, []string{"no interface eth7", "rack0", "key interface"}},
		"packets too large": {func(p *netns.Plan, _ *netns.Spread) { p.MTU++ }, []string{"rack0", "host.mtu of at most 1400"}},
		"interface is down": {func(_ *netns.Plan, s *netns.Spread) {
			in(t, machines[0], func() error {
				link, err := netlink.LinkByName("rack0")
				if err != nil {
					return err
				}
				return netlink.LinkSetDown(link)
			})
		}, []string{"rack0", "is down", "ip link set rack0 up"}},
	} {
		t.Run(name, func(t *testing.T) {
			p, s := p, good
			s.Interfaces = maps.Clone(s.Interfaces)
			tt.change(&p, &s)
			_, err := trySpread(t, p, machines, s)
			if err == nil || slices.ContainsFunc(tt.want, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
				t.Errorf("error %v; want %q", err, tt.want)
			}
		})
		in(t, machines[0], func() error {
			link, err := netlink.LinkByName("rack0")
			if err != nil {
				return err
			}
			return netlink.LinkSetUp(link)
		})
	}
}

// TestVLANLost: when the interface goes away, the links that it carries are lost.
func TestVLANLost(t *testing.T) {
	needVLANs(t)
	p, machines, s := vlanRack(t, plan(1).MTU)
	lab := spreadOver(t, p, machines, s)
	lost := make(chan string, 10)
	stop, err := netns.Watch(lab.Switches[0], func(link string) { lost <- link })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	in(t, machines[0], func() error {
		link, err := netlink.LinkByName("rack0")
		if err != nil {
			return err
		}
		return netlink.LinkSetDown(link)
	})
	select {
	case link := <-lost:
		if link != p.Hosts[1] && link != p.Hosts[2] {
			t.Errorf("link %s is lost, which does not leave the machine", link)
		}
	case <-time.After(5 * time.Second):
		t.Error("no link is lost")
	}
}

// TestVLANPlan: a lab with more links between machines than ids is refused before anything is
// made. Its links' addresses are no other lab's, and those of links inside a machine stay.
func TestVLANPlan(t *testing.T) {
	p := plan(3)
	at := map[string]string{p.Switches[0]: "m1", p.Hosts[0]: "m1", p.Hosts[1]: "m2", p.Hosts[2]: "m2"}
	outer := map[string]netip.Addr{"m1": netip.MustParseAddr("192.0.2.1"), "m2": netip.MustParseAddr("192.0.2.2")}
	macs := func(number uint16, ids ...int) (all []netns.MAC) {
		s := byVLANs(outer, at)
		s.VLANs, s.Number = ids, number
		p.Spread = &s
		lab, err := p.Lab("ab12")
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range lab.Hosts {
			all = append(all, h.MAC, h.Gateway)
		}
		return all
	}
	first, again, numbered, others := macs(1, 100, 101), macs(1, 100, 101), macs(2, 100, 101), macs(1, 200, 201)
	if !slices.Equal(first, again) {
		t.Errorf("the same plan has addresses %v and %v", first, again)
	}
	for i, m := range first {
		local, shared := i < 2, m == numbered[i] || m == others[i]
		if local != shared || slices.Index(first, m) != i {
			t.Errorf("address %d is %s, and in other labs %s, %s", i, m, numbered[i], others[i])
		}
	}
	s := byVLANs(outer, at)
	s.VLANs = s.VLANs[:1]
	p.Spread = &s
	if _, err := p.Lab("ab12"); err == nil || !strings.Contains(err.Error(), "vlans: 2 links of the lab are between machines, and there are 1 ids: want 2 or more") {
		t.Errorf("error %v for two links and one id", err)
	}
}
