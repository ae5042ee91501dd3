package netns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
)

// link makes what this machine has of a link by its number, whose near end is a switch's.
func (p Plan) link(ctx context.Context, number int, near, far end) error {
	switch {
	case p.Here(near.node) && p.Here(far.node):
		return Do(near.namespace, func() error { return addPair(p.MTU, near, far) })
	case p.Here(near.node):
		return p.outlet(number, far.node).add(ctx, near)
	default:
		return p.outlet(number, near.node).add(ctx, far)
	}
}

// outlet is a link to another machine.
type outlet interface {
	// add makes this machine's end. Its packets go through the underlay, whatever
	// namespace it is in.
	add(ctx context.Context, e end) error
}

// outlet is the link of that number to a node of another machine.
func (p Plan) outlet(number int, to string) outlet {
	if len(p.Spread.VLANs) > 0 {
		return p.vlan(number)
	}
	return p.tunnel(number, to)
}

// addPair makes a veth between switches or to a host, with the near end in the calling
// thread's namespace and the far one in its own, at once: an end that is moved
// between namespaces appears under a passing name in the wrong one first, and loses its
// settings.
func addPair(mtu int, near, far end) error {
	ns, err := netns.GetFromName(far.namespace)
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", far.namespace, err)
	}
	defer ns.Close()
	attrs := near.attrs(mtu)
	attrs.Group = portGroup
	link := netlink.NewVeth(attrs)
	link.PeerName, link.PeerNamespace, link.PeerHardwareAddr = far.name, netlink.NsFd(ns), far.mac[:]
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("add link: %w", err)
	}
	return nil
}

// setUpPort readies the switch's end.
func setUpPort(name string) error {
	if err := host.DisableOffloads(name); err != nil {
		return err
	}
	port, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find switch port: %w", err)
	}
	// The namespace's own stack must not answer what the switch receives.
	if err := netlink.LinkSetARPOff(port); err != nil {
		return fmt.Errorf("turn off ARP on switch port: %w", err)
	}
	if err := spareStack(port.Attrs().Index); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(port); err != nil {
		return fmt.Errorf("set switch port up: %w", err)
	}
	return nil
}

// setUpDevice readies the end of the host that the calling thread is in; the switch's
// is up already.
func setUpDevice(ctx context.Context, p Plan, h Host) error {
	if err := host.DisableOffloads(p.hostEnd()); err != nil {
		return err
	}
	if !host.InUserNamespace() { // else the namespace was told before
		if err := host.SteerReceive(p.hostEnd(), p.ReceiveCPUs); err != nil {
			return err
		}
	}
	if p.delayed() {
		if err := stackDevice(p); err != nil {
			return err
		}
	}
	device, err := netlink.LinkByName(Device)
	if err != nil {
		return fmt.Errorf("find %s: %w", Device, err)
	}
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return fmt.Errorf("find lo: %w", err)
	}
	for _, link := range []netlink.Link{loopback, device} {
		if err := netlink.LinkSetUp(link); err != nil {
			return fmt.Errorf("set %s up: %w", link.Attrs().Name, err)
		}
	}
	if err := addRoutes(p, h, device.Attrs().Index); err != nil {
		return err
	}
	if err := shapeUplink(p, device.Attrs().Index); err != nil {
		return err
	}
	return awaitCarrier(ctx, device.Attrs().Index)
}

// addRoutes gives the host its addresses, its gateway's MAC and its routes: one, and one for
// each further address.
func addRoutes(p Plan, h Host, device int) error {
	link := &netlink.Device{LinkAttrs: netlink.LinkAttrs{Index: device}}
	for _, a := range append([]netip.Addr{h.Addr}, h.Also...) {
		addr := &netlink.Addr{IPNet: ipNet(netip.PrefixFrom(a, 32))}
		if err := netlink.AddrAdd(link, addr); err != nil {
			return fmt.Errorf("add address %s: %w", a, err)
		}
	}
	err := netlink.NeighAdd(&netlink.Neigh{
		LinkIndex:    device,
		Family:       unix.AF_INET,
		State:        netlink.NUD_PERMANENT,
		IP:           gateway().AsSlice(),
		HardwareAddr: h.Gateway[:],
	})
	if err != nil {
		return fmt.Errorf("add neighbour %s: %w", gateway(), err)
	}
	for _, r := range routes(p, h, device) {
		if err := netlink.RouteAdd(&r); err != nil {
			if r.Congctl != "" && errors.Is(err, unix.EINVAL) {
				return fmt.Errorf("add route with congestion control %s, which this kernel may not have: %w", r.Congctl, err)
			}
			return fmt.Errorf("add route to %s: %w", r.Dst, err)
		}
	}
	return nil
}

// featureECN is RTAX_FEATURE_ECN of linux/rtnetlink.h.
const featureECN = 1

// routes are those to all other hosts: to their own addresses, and to those of each further
// transport, from the host's of the same.
func routes(p Plan, h Host, device int) []netlink.Route {
	all := []netlink.Route{route(p, Speech{p.Subnet, p.TCP.Congestion, p.TCP.ECN}, device)}
	for i, s := range p.Also {
		r := route(p, s, device)
		r.Src = h.Also[i].AsSlice()
		all = append(all, r)
	}
	return all
}

// route is that of a transport, with what TCP shall do on it.
func route(p Plan, s Speech, device int) netlink.Route {
	r := netlink.Route{
		LinkIndex: device,
		Dst:       ipNet(s.Subnet.Masked()),
		Gw:        gateway().AsSlice(),
		Flags:     int(netlink.FLAG_ONLINK), // no address of ours is on the gateway's network
		InitCwnd:  p.TCP.InitCwnd,
		Congctl:   s.Congestion,
		RtoMin:    int(p.TCP.RTOMin / time.Millisecond),
		// The kernel heeds a route's least RTO only when it is locked.
		RtoMinLock: p.TCP.RTOMin > 0,
	}
	if s.ECN {
		r.Features = featureECN
	}
	return r
}

func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// carrierWait bounds the wait for a link whose ends are both up. It is there
// within microseconds; a kernel that takes longer than this has lost it.
const carrierWait = 10 * time.Second

// awaitCarrier waits until the device carries frames: until then the kernel
// drops them, and a lab's first packets would be lost. Asking makes the kernel
// settle a change that is still under way, so the first answer is mostly the
// last.
func awaitCarrier(ctx context.Context, device int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, carrierWait, errors.New("link has no carrier"))
	defer cancel()
	for wait := 100 * time.Microsecond; ; wait *= 2 {
		link, err := netlink.LinkByIndex(device)
		if err != nil {
			return fmt.Errorf("wait for carrier: %w", err)
		}
		// A tunnel has no carrier to tell of.
		if state := link.Attrs().OperState; state == netlink.OperUp || state == netlink.OperUnknown && link.Type() == tunnelType {
			return nil
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("wait for carrier: %w", context.Cause(ctx))
		}
	}
}

// String writes the address as 02:a9:00:00:00:01.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// MarshalText writes the address as String does.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (m *MAC) UnmarshalText(text []byte) error {
	addr, err := net.ParseMAC(string(text))
	if err != nil {
		return err
	}
	if len(addr) != len(m) {
		return fmt.Errorf("MAC %s: want %d bytes", text, len(m))
	}
	copy(m[:], addr)
	return nil
}

// Shape of a host's transmit queue.
const (
	// uplinkBurst is the tbf's bucket in full frames. What is longer (a
	// segmentation super-packet) is cut on its way in. The bucket lets a host
	// make up for being scheduled late; the switch spaces the frames by the
	// link's rate anyway.
	uplinkBurst = 10
	// uplinkLimit is the queue's length in full frames, as many as the kernel
	// gives a device by default (txqueuelen).
	uplinkLimit = 1000
	// etherHeader is what the kernel counts of a frame beside its packet.
	etherHeader = 14
	// wireOverhead is what a frame takes on the wire beyond what the kernel
	// counts: preamble, FCS and gap.
	wireOverhead = 24
)

// shapeUplink makes the host that the calling thread is in send at its link's
// rate, as a network card does: what does not fit waits in the host's own
// queue. Without it a veth takes everything at once, and TCP never learns that
// its packets still wait for the link: its small queues (TSQ) count a packet
// only until the device has taken it. A window would then pile up behind the
// link, hidden from the switch's queues and marks, and reach the switch as one
// long burst.
//
// With a rate of 0 the link is what has a queue, marks and all, and the host is not held
// back.
func shapeUplink(p Plan, device int) error {
	if p.Uplink == 0 {
		return nil
	}
	full := uint64(p.MTU + etherHeader)
	rate := uint64(float64(p.Uplink) / 8 * float64(full) / float64(full+wireOverhead))
	// The bucket is given as the time it takes to fill, in whole microseconds:
	// at hundreds of Gbps the frames alone would make it none at all.
	burst := max(uplinkBurst*full, 2*rate/1e6)
	err := netlink.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: device, Parent: netlink.HANDLE_ROOT, Handle: netlink.MakeHandle(1, 0)},
		Rate:       rate,
		Limit:      uint32(uplinkLimit * full),
		Buffer:     netlink.Xmittime(rate, uint32(burst)),
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return fmt.Errorf("shape uplink: this kernel has no tbf queueing discipline (CONFIG_NET_SCH_TBF): %w", err)
	case err != nil:
		return fmt.Errorf("shape uplink: %w", err)
	}
	return nil
}
