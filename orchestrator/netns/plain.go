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
	link, err := netlink.LinkByName(device)
	if err != nil {
		return fmt.Errorf("find %s: %w", device, err)
	}
	if err := netlink.AddrAdd(link, &netlink.Addr{IPNet: ipNet(addr)}); err != nil {
		return fmt.Errorf("add address %v to %s: %w", addr, device, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("set %s up: %w", device, err)
	}
	return nil
}

// Bridge makes a bridge of interfaces, which must not lead in a circle: it knows
// no spanning tree.
func Bridge(devices ...string) error {
	bridge := &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: plainBridge}}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("make bridge %s: %w", plainBridge, err)
	}
	for _, device := range devices {
		link, err := netlink.LinkByName(device)
		if err != nil {
			return fmt.Errorf("find %s: %w", device, err)
		}
		if err := netlink.LinkSetMaster(link, bridge); err != nil {
			return fmt.Errorf("put %s into bridge %s: %w", device, plainBridge, err)
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return fmt.Errorf("set %s up: %w", device, err)
		}
	}
	if err := netlink.LinkSetUp(bridge); err != nil {
		return fmt.Errorf("set bridge %s up: %w", plainBridge, err)
	}
	return nil
}
