package netns

import (
	"fmt"
	"net/netip"

	"github.com/vishvananda/netlink"
)

// What follows sets up the namespace that the caller is in: the nodes of a
// network that somebody else has laid, such as containerlab.

// plainBridge is the interface that [Bridge] makes.
const plainBridge = "br0"

// AddAddress gives an interface an address, and the route to its neighbours.
func AddAddress(device string, addr netip.Prefix) error {
	return setUp(device, func(link netlink.Link) error {
		if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ipNet(addr)}); err != nil {
			return fmt.Errorf("add address %v to %s: %w", addr, device, err)
		}
		return nil
	})
}

// Bridge makes a bridge of interfaces, which must not lead in a circle: it knows
// no spanning tree.
func Bridge(devices ...string) error {
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: plainBridge}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("make bridge %s: %w", plainBridge, err)
	}
	for _, device := range devices {
		err := setUp(device, func(link netlink.Link) error {
			if err := unspareStack(link); err != nil {
				return err
			}
			return netlink.LinkSetMaster(link, bridge)
		})
		if err != nil {
			return fmt.Errorf("put %s into bridge %s: %w", device, plainBridge, err)
		}
	}
	return setUp(plainBridge, func(netlink.Link) error { return nil })
}

// RemoveBridge removes what Bridge has made of ports of the switch.
func RemoveBridge() error {
	bridge, err := netlink.LinkByName(plainBridge)
	if err != nil {
		return fmt.Errorf("find bridge %s: %w", plainBridge, err)
	}
	links, err := netlink.LinkList()
	if err != nil {
		return fmt.Errorf("list the ports of bridge %s: %w", plainBridge, err)
	}
	if err := netlink.LinkDel(bridge); err != nil {
		return fmt.Errorf("remove bridge %s: %w", plainBridge, err)
	}
	for _, port := range links {
		if port.Attrs().MasterIndex != bridge.Attrs().Index {
			continue
		}
		if err := spareStack(port.Attrs().Index); err != nil {
			return fmt.Errorf("port %s: %w", port.Attrs().Name, err)
		}
	}
	return nil
}

// setUp sets up an interface once something has been done to it.
func setUp(device string, do func(netlink.Link) error) error {
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	if err := do(link); err != nil {
		return err
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", device, err)
	}
	return nil
}
