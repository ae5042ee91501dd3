package netns

import (
	"errors"
	"fmt"
	"net/netip"
)

// Spread lays a lab out over several machines, each of which builds its own nodes. Links
// between nodes of two machines are VXLAN (RFC 7348), one network of two ends each, on the
// network that the machines share, or VLANs (IEEE 802.1Q) of interfaces on that network.
type Spread struct {
	Here     string                // this machine
	Machines map[string]string     // the machine of each node, by the node's name
	Outer    map[string]netip.Addr // the address of each machine on their network. IPv4.
	Underlay string                // namespace that has this machine's address, by name; empty: the caller's
	Port     int                   // of UDP
	First    int                   // VNI of the first link; those of others follow, modulo 2^24

	VLANs      []int             // ids of the links between machines, in the links' order; none: they are VXLAN
	Interfaces map[string]string // of each machine, whose VLANs they are
	Number     uint16            // of the lab among those on the network, for the MACs of such links
}

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
		if len(s.VLANs) > 0 && s.Interfaces[machine] == "" {
			errs = append(errs, fmt.Errorf("machine %s of node %s: no interface for VLANs", machine, node))
		}
	}
	if n := p.leaving(p.links()); len(s.VLANs) > 0 && len(s.VLANs) < n {
		errs = append(errs, fmt.Errorf("vlans: %d links of the lab are between machines, and there are %d ids: want %d or more", n, len(s.VLANs), n))
	}
	if p.delayed() {
		errs = append(errs, errors.New("links between machines take no delays of hosts' kernels"))
	}
	return errors.Join(errs...)
}

// links is how many the lab has: those of hosts come first, and then those between
// switches.
func (p Plan) links() int { return len(p.Hosts) + len(p.Trunks) }

// leaves tells whether a link, by its number, is between two machines.
func (p Plan) leaves(number int) bool {
	if p.Spread == nil {
		return false
	}
	var ends [2]string
	if host := number; host < len(p.Hosts) {
		ends = [2]string{p.Switches[p.at(host)], p.Hosts[host]}
	} else {
		trunk := p.Trunks[number-len(p.Hosts)]
		ends = [2]string{p.Switches[trunk[0]], p.Switches[trunk[1]]}
	}
	return p.Spread.Machines[ends[0]] != p.Spread.Machines[ends[1]]
}

// leaving is how many links are between two machines, of those below a number.
func (p Plan) leaving(number int) (n int) {
	for i := range number {
		if p.leaves(i) {
			n++
		}
	}
	return n
}

// vlanID is the id of the VLAN that a link between two machines is, by its number; 0 for
// other links.
func (p Plan) vlanID(number int) int {
	if p.Spread == nil || len(p.Spread.VLANs) == 0 || !p.leaves(number) {
		return 0
	}
	return p.Spread.VLANs[p.leaving(number)]
}
