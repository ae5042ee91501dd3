package netns_test

import (
	"bytes"
	"errors"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// rack makes the network that machines share: a bridge, and for each machine a namespace
// with a link to it of that MTU. It returns the addresses of the machines, which are called
// as their namespaces are.
func rack(t *testing.T, mtu int, machines ...string) map[string]netip.Addr {
	t.Helper()
	needRoot(t)
	const bridge = "fabric"
	room := makeNamespace(t, "aqmtest-rack")
	in(t, room, func() error {
		return netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: bridge, MTU: mtu}})
	})
	outer := make(map[string]netip.Addr)
	addr := netip.MustParseAddr("192.168.7.0")
	for _, m := range machines {
		addr = addr.Next()
		outer[m] = addr
		own := makeNamespace(t, m)
		in(t, room, func() error {
			to, err := vns.GetFromName(own)
			if err != nil {
				return err
			}
			defer to.Close()
			shared, err := netlink.LinkByName(bridge)
			if err != nil {
				return err
			}
			veth := netlink.NewVeth(netlink.LinkAttrs{Name: m[len(m)-2:], MTU: mtu, MasterIndex: shared.Attrs().Index})
			veth.PeerName, veth.PeerNamespace = "rack0", netlink.NsFd(to)
			if err := netlink.LinkAdd(veth); err != nil {
				return err
			}
			return errors.Join(netlink.LinkSetUp(shared), netlink.LinkSetUp(veth))
		})
		in(t, own, func() error {
			link, err := netlink.LinkByName("rack0")
			if err != nil {
				return err
			}
			ip, err := netlink.ParseAddr(addr.String() + "/24")
			if err != nil {
				return err
			}
			return errors.Join(netlink.LinkSetMTU(link, mtu), netlink.AddrAdd(link, ip), netlink.LinkSetUp(link))
		})
	}
	return outer
}

func makeNamespace(t *testing.T, name string) string {
	t.Helper()
	if err := netns.ReadyDir(); err != nil { // or the first lab on this machine would cover it
		t.Fatal(err)
	}
	err := netns.Do("", func() error {
		ns, err := vns.NewNamed(name)
		if err != nil {
			return err
		}
		return ns.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := vns.DeleteNamed(name); err != nil {
			t.Error(err)
		}
	})
	return name
}

// TestSpread: a lab whose switch is on one machine and whose hosts are on it and on another
// has its links all the same, and packets pass them. Each machine has its own nodes alone.
func TestSpread(t *testing.T) {
	machines := []string{"aqmtest-m1", "aqmtest-m2"}
	outer := rack(t, 1600, machines...)
	p := plan(3)
	lab := spreadOver(t, p, machines, byVXLAN(outer, map[string]string{
		p.Switches[0]: machines[0], p.Hosts[0]: machines[0], p.Hosts[1]: machines[1], p.Hosts[2]: machines[1],
	}))
	carries(t, p, lab)
}

// carries wants the hosts to be as planned, and to reach each other with packets of the MTU.
func carries(t *testing.T, p netns.Plan, lab *netns.Lab) {
	t.Helper()
	for _, h := range lab.Hosts {
		in(t, h.Namespace, func() error {
			link, err := netlink.LinkByName(netns.Device)
			if err != nil {
				return err
			}
			if a := link.Attrs(); a.MTU != p.MTU || a.HardwareAddr.String() != h.MAC.String() {
				t.Errorf("%s: MTU %d, address %s; want %d, %s", h.Name, a.MTU, a.HardwareAddr, p.MTU, h.MAC)
			}
			return nil
		})
	}
	f := forward(t, lab)
	for i := range lab.Hosts {
		transfer(t, lab.Hosts[i], lab.Hosts[(i+1)%len(lab.Hosts)])
	}
	if got := f.largest.Load(); got != int64(p.MTU) || f.others.Load() != 0 {
		t.Errorf("largest packet is %d bytes, and %d frames are no IPv4; want the MTU, %d, and none", got, f.others.Load(), p.MTU)
	}
}

// TestSpreadTrunk: so has a lab whose switches are on different machines.
func TestSpreadTrunk(t *testing.T) {
	machines := []string{"aqmtest-m1", "aqmtest-m2"}
	outer := rack(t, 1600, machines...)
	p, at := trunkPlan(machines)
	trunkCarries(t, p, spreadOver(t, p, machines, byVXLAN(outer, at)))
}

// trunkPlan is a lab of two switches on different machines, with a host beside each.
func trunkPlan(machines []string) (p netns.Plan, at map[string]string) {
	p = plan(2)
	p.Switches, p.At, p.Trunks = []string{"s1", "s2"}, []int{0, 1}, [][2]int{{0, 1}}
	return p, map[string]string{"s1": machines[0], p.Hosts[0]: machines[0], "s2": machines[1], p.Hosts[1]: machines[1]}
}

// trunkCarries wants a frame of the MTU to pass between the switches.
func trunkCarries(t *testing.T, p netns.Plan, lab *netns.Lab) {
	t.Helper()
	from, to := lab.Trunks[0].Ends[0], lab.Trunks[0].Ends[1]
	receiver := packetSocket(t, lab.Switches[1], to.Interface)
	sender := packetSocket(t, lab.Switches[0], from.Interface)
	frame := append(slices.Concat(to.MAC[:], from.MAC[:], []byte{0x88, 0xb5}), bytes.Repeat([]byte{7}, p.MTU)...) // IEEE 802: for experiments
	if _, err := unix.Write(sender, frame); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 2*len(frame))
	n, err := unix.Read(receiver, got)
	if err != nil || !bytes.Equal(got[:n], frame) {
		t.Errorf("%d bytes came over the trunk (%v), want the %d of the frame", n, err, len(frame))
	}
}

// packetSocket receives all frames on an interface of a switch, for 5 s.
func packetSocket(t *testing.T, namespace, device string) (fd int) {
	t.Helper()
	in(t, namespace, func() error {
		link, err := net.InterfaceByName(device)
		if err != nil {
			return err
		}
		const all = 0x0300 // ETH_P_ALL in network byte order: what comes before the port drops it
		if fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		return errors.Join(
			unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 5}),
			unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Index}),
		)
	})
	return fd
}

// byVXLAN is a lab of nodes at machines whose links are VXLAN.
func byVXLAN(outer map[string]netip.Addr, at map[string]string) netns.Spread {
	return netns.Spread{Machines: at, Outer: outer, Port: 4789, First: 7}
}

// spreadOver has each of the machines build its share of a lab.
func spreadOver(t *testing.T, p netns.Plan, machines []string, s netns.Spread) *netns.Lab {
	t.Helper()
	lab, err := trySpread(t, p, machines, s)
	if err != nil {
		t.Fatal(err)
	}
	return lab
}

func trySpread(t *testing.T, p netns.Plan, machines []string, s netns.Spread) (lab *netns.Lab, err error) {
	t.Helper()
	j := create(t, t.TempDir())
	for _, m := range machines {
		s.Here, s.Underlay = m, m
		share := s
		p.Spread = &share
		if lab, err = netns.Up(t.Context(), j, p); err != nil {
			return nil, err
		}
	}
	return lab, nil
}

// TestSpreadTooSmall: packets that have no room between the machines are refused, with
// what would fit.
func TestSpreadTooSmall(t *testing.T) {
	machines := []string{"aqmtest-m1", "aqmtest-m2"}
	outer := rack(t, 1500, machines...)
	p := plan(2)
	p.MTU = 1500
	p.Spread = &netns.Spread{
		Here: machines[0], Outer: outer, Underlay: machines[0], Port: 4789,
		Machines: map[string]string{p.Switches[0]: machines[0], p.Hosts[0]: machines[0], p.Hosts[1]: machines[1]},
	}
	j := create(t, t.TempDir())
	_, err := netns.Up(t.Context(), j, p)
	if !errors.Is(err, netns.ErrTooSmall) || !strings.Contains(err.Error(), "at most 1450") {
		t.Errorf("error %v; want that 1450 would fit", err)
	}
	if left := leftOf(t, j.ID()); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
