package check

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/vishvananda/netlink"

	"aqmlab/orchestrator/doctor"
	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/netns"
)

// Outlet is where the links of a machine to others go out.
type Outlet struct {
	At        netip.AddrPort // address and UDP port of VXLAN
	Interface string         // whose VLANs they are; empty: they are VXLAN
}

// look looks at this machine.
func look(out Outlet) doctor.Diagnosis {
	d := doctor.DiagnoseSite()
	link, address := findAddress(out.At.Addr())
	d.Add(address)
	if out.Interface == "" {
		d.Add(findTunnels(int(out.At.Port())))
	} else {
		var carrier doctor.Finding
		link, carrier = findInterface(out.Interface)
		d.Add(carrier, findVLANs(out.Interface))
	}
	if link != nil {
		d.Add(findMerging(link))
	}
	return d
}

// findAddress finds the interface that has the address; nil if there is none.
func findAddress(addr netip.Addr) (netlink.Link, doctor.Finding) {
	link, err := netns.DeviceOf(addr)
	f := doctor.Finding{Part: "address", Needed: true}
	if err == nil {
		f.Text = fmt.Sprintf("%s is on %s, whose MTU is %d", addr, link.Attrs().Name, link.Attrs().MTU)
	}
	return link, f.Unless(err, "it cannot be reached by the others", "set the key address of the machine to one that `ip address` shows there")
}

func findTunnels(port int) doctor.Finding {
	return doctor.Finding{Part: "links to machines", Needed: true, Text: fmt.Sprintf("VXLAN, UDP port %d", port)}.
		Unless(netns.CanTunnel(port), "no VXLAN", "run Docker as root there, on a kernel with CONFIG_VXLAN")
}

// findInterface finds the interface whose VLANs carry links; nil if there is none.
func findInterface(name string) (netlink.Link, doctor.Finding) {
	link, err := netns.InterfaceOf(name)
	f := doctor.Finding{Part: "interface", Needed: true}
	if err == nil {
		f.Text = fmt.Sprintf("%s is up, and its MTU is %d", name, link.Attrs().MTU)
	}
	return link, f.Unless(err, "it carries no VLANs", "set the key interface of the machine to one that `ip link` shows there, and have it up")
}

func findVLANs(on string) doctor.Finding {
	return doctor.Finding{Part: "links to machines", Needed: true, Text: "VLANs of " + on}.
		Unless(netns.CanVLAN(), "no VLANs", "load the module 8021q there (modprobe 8021q), or take a kernel with CONFIG_VLAN_8021Q; or leave out the keys vlans and interface, and links are VXLAN")
}

// findMerging says whether packets are made into larger ones before they are unpacked.
func findMerging(link netlink.Link) doctor.Finding {
	f := doctor.Finding{Part: "merging", OK: true, Text: "packets of other machines come in as they were sent"}
	all, err := netlink.LinkList()
	if err != nil {
		return f.Unless(fmt.Errorf("list interfaces: %w", err), "it is not known whether packets are merged", "")
	}
	tool, err := host.OpenEthtool()
	if err != nil {
		return f.Unless(err, "it is not known whether packets are merged", "")
	}
	defer tool.Close()
	var merge, remedies []string
	var errs []error
	for _, device := range lowest(link, all) {
		on, err := merging(tool, device)
		if err != nil {
			errs = append(errs, fmt.Errorf("read the features of %s: %w", device, err))
		}
		if len(on) > 0 {
			merge = append(merge, device)
			remedies = append(remedies, "ethtool -K "+device+" "+strings.Join(on, " off ")+" off")
		}
	}
	if len(merge) == 0 {
		return f.Unless(errors.Join(errs...), "it is not known whether packets are merged", "")
	}
	f.OK = false
	f.Text = strings.Join(merge, " and ") + " may merge packets as they come in, also those inside VXLAN and VLANs: they can reach the lab larger than its MTU"
	f.Remedy = "on that machine: " + strings.Join(remedies, "; ")
	return f
}

// lowest are the interfaces, of all, through which packets of one come in: those of a
// bridge or a bond, that below a VLAN, or itself.
func lowest(of netlink.Link, all []netlink.Link) []string {
	var below []string
	a := of.Attrs()
	for _, l := range all {
		if l.Attrs().MasterIndex == a.Index || stacked(of.Type()) && l.Attrs().Index == a.ParentIndex {
			below = append(below, lowest(l, all)...)
		}
	}
	if below == nil {
		return []string{a.Name}
	}
	slices.Sort(below)
	return slices.Compact(below)
}

// stacked tells whether devices of a kind take their packets from the one that they name
// as their parent.
func stacked(kind string) bool { return slices.Contains([]string{"vlan", "macvlan", "ipvlan"}, kind) }

// merging lists what of a device merges packets as they come in, as the ethtool command
// calls it.
func merging(tool *host.Ethtool, device string) (on []string, err error) {
	features, err := tool.Features(device)
	for _, f := range []struct{ kernel, command string }{{"rx-gro", "gro"}, {"rx-gro-hw", ""}, {"rx-lro", "lro"}} {
		if features[f.kernel] {
			on = append(on, cmp.Or(f.command, f.kernel))
		}
	}
	return on, err
}
