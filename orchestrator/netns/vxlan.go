package netns

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

const (
	// VXLANOverhead is what VXLAN over IPv4 adds to a packet: the headers of IP, UDP and
	// VXLAN, and the Ethernet header inside.
	VXLANOverhead = 20 + 8 + 8 + 14
	// VNIs is how many networks VXLAN can tell apart.
	VNIs = 1 << 24
)

// tunnel is a link to another machine.
type tunnel struct {
	vni       int
	near, far netip.Addr
	underlay  string
	port      int
	mtu       int
}

// tunnelType is its device's type.
const tunnelType = "vxlan"

// tunnel is the link of that number to a node of another machine.
func (p Plan) tunnel(number int, to string) tunnel {
	s := p.Spread
	return tunnel{
		vni:      (s.First + number) % VNIs,
		near:     s.Outer[s.Here],
		far:      s.Outer[s.Machines[to]],
		underlay: s.Underlay,
		port:     s.Port,
		mtu:      p.MTU,
	}
}

// add makes this machine's end of the tunnel.
func (t tunnel) add(_ context.Context, e end) error {
	ns, err := netns.GetFromName(e.namespace)
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", e.namespace, err)
	}
	defer ns.Close()
	return Do(t.underlay, func() error {
		outer, err := DeviceOf(t.near)
		if err != nil {
			return err
		}
		if room := outer.Attrs().MTU; t.mtu+VXLANOverhead > room {
			return fmt.Errorf("%w: %s has an MTU of %d, of which VXLAN takes %d: want host.mtu of at most %d, or a larger MTU there",
				ErrTooSmall, outer.Attrs().Name, room, VXLANOverhead, room-VXLANOverhead)
		}
		attrs := e.attrs(t.mtu)
		attrs.Group, attrs.Namespace = portGroup, netlink.NsFd(ns)
		return t.make(attrs, outer)
	})
}

// make makes the device, whose packets go through another one.
func (t tunnel) make(attrs netlink.LinkAttrs, outer netlink.Link) error {
	link := &netlink.Vxlan{
		LinkAttrs:    attrs,
		VxlanId:      t.vni,
		VtepDevIndex: outer.Attrs().Index,
		SrcAddr:      net.IP(t.near.AsSlice()),
		Group:        net.IP(t.far.AsSlice()),
		TTL:          64,
		Port:         t.port,
	}
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("add a VXLAN link to %s, VNI %d, UDP port %d (CONFIG_VXLAN): %w", t.far, t.vni, t.port, err)
	}
	return nil
}

// CanTunnel tries, in a namespace that is gone afterwards, whether links to other machines
// can be made at a UDP port. The error says what the kernel lacks.
func CanTunnel(port int) error {
	return Scratch("outer0", func(outer netlink.Link) error {
		t := tunnel{vni: 1, near: netip.AddrFrom4([4]byte{192, 0, 2, 1}), far: netip.AddrFrom4([4]byte{192, 0, 2, 2}), port: port}
		return t.make(netlink.LinkAttrs{Name: "inner0"}, outer)
	})
}

// DeviceOf finds the device of the calling thread's namespace that has an address.
func DeviceOf(addr netip.Addr) (netlink.Link, error) {
	all, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	for _, a := range all {
		if got, ok := netip.AddrFromSlice(a.IP.To4()); ok && got == addr {
			return netlink.LinkByIndex(a.LinkIndex)
		}
	}
	return nil, fmt.Errorf("no interface of this machine has the address %s", addr)
}
