package netns

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Spread lays a lab out over several machines, each of which builds its own nodes. Links
// between nodes of two machines are VXLAN (RFC 7348), one network of two ends each, on the
// network that the machines share.
type Spread struct {
	Here     string                // this machine
	Machines map[string]string     // the machine of each node, by the node's name
	Outer    map[string]netip.Addr // the address of each machine on their network. IPv4.
	Underlay string                // namespace that has this machine's address, by name; empty: the caller's
	Port     int                   // of UDP
	First    int                   // VNI of the first link; those of others follow, modulo 2^24
}

const (
	// VXLANOverhead is what VXLAN over IPv4 adds to a packet: the headers of IP, UDP and
	// VXLAN, and the Ethernet header inside.
	VXLANOverhead = 20 + 8 + 8 + 14
	// VNIs is how many networks VXLAN can tell apart.
	VNIs = 1 << 24
)

// ErrTooSmall is the error for a network between machines whose packets have no room for
// the lab's.
var ErrTooSmall = errors.New("the lab's packets do not fit into the network between machines")

// Here tells whether a node is on this machine.
func (p Plan) Here(node string) bool {
	return p.Spread == nil || p.Spread.Machines[node] == p.Spread.Here
}

func (p Plan) checkSpread() error {
	s := p.Spread
	if s == nil {
		return nil
	}
	var errs []error
	for _, node := range append(p.Switches[:len(p.Switches):len(p.Switches)], p.Hosts...) {
		machine, placed := s.Machines[node]
		if !placed {
			errs = append(errs, fmt.Errorf("node %s is on no machine", node))
			continue
		}
		if a := s.Outer[machine]; !a.Is4() {
			errs = append(errs, fmt.Errorf("machine %s of node %s: address %s: want one of IPv4", machine, node, a))
		}
	}
	if p.delayed() {
		errs = append(errs, errors.New("links between machines take no delays of hosts' kernels"))
	}
	return errors.Join(errs...)
}

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

// add makes this machine's end of the tunnel. Its packets go through the underlay, where
// it is made, whatever namespace it is in.
func (t tunnel) add(e end, group uint32) error {
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
		attrs.Group, attrs.Namespace = group, netlink.NsFd(ns)
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
