package netns

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"aqmlab/orchestrator/host"
	"aqmlab/orchestrator/journal"
)

// Plan is what a lab shall be. Times are wall-clock time.
type Plan struct {
	Switches []string // names of the switches, for their namespaces; one at least
	Hosts    []string // names of the hosts; they name interfaces too: at most 15 characters
	At       []int    // the switch of each host, by its index; nil: the first of all
	// Trunks are the links between switches, by their indices.
	Trunks [][2]int
	// Subnet holds all hosts, the i-th of them at its (i+1)-th address. IPv4.
	Subnet netip.Prefix
	MTU    int   // network-layer bytes, at least 576; the same on every link
	Uplink int64 // rate in bits per second at which a host sends on its link, framing included; at least 20 kbit/s, or 0: as fast as it can
	// Uplinks are those of the hosts, in place of Uplink, where they are not alike.
	Uplinks []int64
	TCP     TCP
	// Also are further transports that hosts speak, each at addresses of its own.
	Also []Speech
	// Delays are how long the kernel of each host holds back what it sends, by
	// netem, before its link: one for all packets, or several, of which the hash
	// of a flow picks one. Pure ACKs are not held back. Nil for hosts without
	// netem. 0 to 4 minutes; how many a host has does not change.
	Delays [][]time.Duration
	// ReceiveCPUs run the hosts' receiving stacks (RPS). With none, the
	// receiver's stack runs inside the switch's send call.
	ReceiveCPUs []int
	// Sysctls are set in every host last, over what the lab sets itself.
	Sysctls []host.Setting
	// Owners are processes, by the names of nodes: a node's namespace is that which
	// its process is in. Every process has one of its own, empty but for the
	// loopback. A node without a process gets a new namespace.
	Owners map[string]int
	// Spread is how the lab lies on several machines; nil: all of it is on this one.
	Spread *Spread
}

// TCP is how the hosts' TCP is set up. All of it but IdleRestart and ECN's
// sysctls is an attribute of the one route, so it holds for the lab's own
// connections whoever opens them.
type TCP struct {
	InitCwnd    int           // initial window in segments; 0: the kernel's default
	RTOMin      time.Duration // least retransmission timeout, whole milliseconds; 0: the kernel's default
	Congestion  string        // congestion control of every connection; "": the kernel's default
	ECN         bool          // ask for ECN on every connection; else never, unless the congestion control insists
	IdleRestart bool          // fall back to the initial window after an idle RTO (RFC 5681, section 4.1)
	// SACKRecovery finds losses by what is selectively acknowledged (RFC 6675), and
	// sends no tail loss probes, where the kernel still can: before Linux 6.17.
	SACKRecovery bool
}

// Speech is a transport that a host speaks from one of its further addresses to such
// addresses of other hosts. The route between them says so, whoever opens the connection.
// All else is as [TCP] has it.
type Speech struct {
	Subnet     netip.Prefix // the host's address stands where its own does in [Plan.Subnet]; of the same length
	Congestion string       // as of [TCP]
	ECN        bool         // the same
}

// Lab is a lab's namespaces, interfaces and addresses.
type Lab struct {
	ID       string   `json:"id"`
	Switches []string `json:"switches"` // namespaces of the switches
	Hosts    []Host   `json:"hosts"`    // in the plan's order
	Trunks   []Trunk  `json:"trunks,omitempty"`
}

// Host is one host of a lab. Its link's far end is the interface Name in its
// switch's namespace.
type Host struct {
	Name      string       `json:"name"`
	Namespace string       `json:"namespace"`
	Switch    int          `json:"switch"` // by its index
	Addr      netip.Addr   `json:"addr"`
	Also      []netip.Addr `json:"also,omitempty"` // by [Plan.Also]
	MAC       MAC          `json:"mac"`            // of eth0: the switch addresses frames to the host with it
	Gateway   MAC          `json:"gateway"`        // of the switch's end: the host addresses all its frames to it
}

// Trunk is a link between two switches.
type Trunk struct {
	Ends [2]TrunkEnd `json:"ends"`
}

// TrunkEnd is an interface in a switch's namespace. Its name is that of the
// switch at the other end, with a number behind it where that is taken.
type TrunkEnd struct {
	Switch    int    `json:"switch"` // by its index
	Interface string `json:"interface"`
	MAC       MAC    `json:"mac"`
}

const (
	minMTU = 576     // RFC 791: what every host must take
	maxMTU = 65535   // ETH_MAX_MTU, veth's own limit
	maxNo  = 1 << 16 // hosts that the numbering of MACs has room for
	// minUplink is the least rate at which the kernel can count the time of a
	// burst, whatever the MTU.
	minUplink = 20_000
)

// Lab checks the plan and says which namespaces, interfaces and addresses a
// lab with this id has.
func (p Plan) Lab(id string) (*Lab, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("plan of lab %s: %w", id, err)
	}
	lab := &Lab{ID: id, Hosts: make([]Host, len(p.Hosts))}
	for _, name := range p.Switches {
		lab.Switches = append(lab.Switches, namespace(id, name))
	}
	if len(p.Trunks) > 0 {
		lab.Trunks = p.trunks()
	}
	addr := p.Subnet.Masked().Addr()
	also := make([]netip.Addr, len(p.Also))
	for i, s := range p.Also {
		also[i] = s.Subnet.Masked().Addr()
	}
	for i, name := range p.Hosts {
		addr = addr.Next()
		for j := range also {
			also[j] = also[j].Next()
		}
		lab.Hosts[i] = Host{
			Name:      name,
			Namespace: namespace(id, name),
			Switch:    p.at(i),
			Addr:      addr,
			Also:      append([]netip.Addr(nil), also...),
			MAC:       p.mac(i, hostSide, i),
			Gateway:   p.mac(i, switchSide, i),
		}
	}
	return lab, nil
}

// at is the switch of a host.
func (p Plan) at(host int) int {
	if p.At == nil {
		return 0
	}
	return p.At[host]
}

// forHost is the plan of one host.
func (p Plan) forHost(host int) Plan {
	if len(p.Uplinks) > 0 {
		p.Uplink = p.Uplinks[host]
	}
	return p
}

// SwitchName is the name of a switch, by its index.
func (l *Lab) SwitchName(i int) string { return strings.TrimPrefix(l.Switches[i], namespace(l.ID, "")) }

func namespace(id, node string) string { return "aqm-" + id + "-" + node }

func (p Plan) check() error {
	return errors.Join(p.checkNames(), p.checkTrunks(), p.checkSubnet(), p.checkTCP(), p.checkDelays(), p.checkCPUs(), p.checkSpread())
}

func (p Plan) checkNames() error {
	// IFNAMSIZ less the final zero; the characters that namespaces, interfaces and
	// host names all allow.
	valid := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,14}$`)
	// The kernel has folders of these names among its interfaces' sysctls.
	seen := map[string]bool{"lo": true, "all": true, "default": true}
	var errs []error
	for _, name := range slices.Concat(p.Switches, p.Hosts) {
		if !valid.MatchString(name) {
			errs = append(errs, fmt.Errorf("name %q: want 1 to 15 letters, digits and hyphens, no hyphen first", name))
		} else if seen[name] {
			errs = append(errs, fmt.Errorf("name %q is taken", name))
		}
		seen[name] = true
	}
	if len(p.Switches) == 0 {
		errs = append(errs, errors.New("no switch"))
	}
	if len(p.Hosts) == 0 {
		errs = append(errs, errors.New("no hosts"))
	}
	return errors.Join(errs...)
}

func (p Plan) checkSubnet() error {
	if !p.Subnet.IsValid() || !p.Subnet.Addr().Is4() {
		return fmt.Errorf("subnet %s: want an IPv4 prefix", p.Subnet)
	}
	if p.Subnet.Overlaps(netip.PrefixFrom(gateway(), 32)) {
		return fmt.Errorf("subnet %s holds the gateway %s", p.Subnet, gateway())
	}
	for i, s := range p.Also {
		if !s.Subnet.IsValid() || !s.Subnet.Addr().Is4() || s.Subnet.Bits() != p.Subnet.Bits() {
			return fmt.Errorf("subnet %s of transport %d: want one as long as %s", s.Subnet, i+1, p.Subnet)
		}
		if s.Subnet.Overlaps(p.Subnet) || slices.ContainsFunc(p.Also[:i], func(o Speech) bool { return o.Subnet.Overlaps(s.Subnet) }) {
			return fmt.Errorf("subnet %s of transport %d overlaps another", s.Subnet, i+1)
		}
	}
	// The first address is the network's and the last the broadcast's.
	room := 1<<(32-p.Subnet.Bits()) - 2
	if n := len(p.Hosts); n > min(room, maxNo) {
		return fmt.Errorf("%d hosts: subnet %s has room for %d", n, p.Subnet, max(0, min(room, maxNo)))
	}
	return nil
}

func (p Plan) checkTCP() error {
	var errs []error
	if p.MTU < minMTU || p.MTU > maxMTU {
		errs = append(errs, fmt.Errorf("MTU %d: want %d to %d", p.MTU, minMTU, maxMTU))
	}
	if n := len(p.Uplinks); n > 0 && n != len(p.Hosts) {
		errs = append(errs, fmt.Errorf("%d uplinks: want one for each of %d hosts, or none", n, len(p.Hosts)))
	}
	for _, uplink := range append([]int64{p.Uplink}, p.Uplinks...) {
		if uplink != 0 && uplink < minUplink {
			errs = append(errs, fmt.Errorf("uplink of %d bit/s: want %d or more", uplink, minUplink))
		}
	}
	if p.TCP.InitCwnd < 0 {
		errs = append(errs, fmt.Errorf("initial window %d: want 0 or more", p.TCP.InitCwnd))
	}
	if p.TCP.RTOMin < 0 || p.TCP.RTOMin%time.Millisecond != 0 {
		errs = append(errs, fmt.Errorf("least RTO %s: the kernel takes whole milliseconds", p.TCP.RTOMin))
	}
	return errors.Join(errs...)
}

func (p Plan) checkCPUs() error {
	for _, cpu := range p.ReceiveCPUs {
		if cpu < 0 {
			return fmt.Errorf("CPU %d: want 0 or more", cpu)
		}
	}
	return nil
}

// gateway is the next hop of every host's route. It is link-local, so it
// collides with no lab's subnet, and it need not exist: only its neighbour entry
// does.
func gateway() netip.Addr { return netip.AddrFrom4([4]byte{169, 254, 1, 1}) }

// entries lists the lab's namespaces for the journal, those of switches first:
// what is recorded first goes last, and every link has an end in one of them.
func (l *Lab) entries() []journal.Entry {
	var entries []journal.Entry
	for _, name := range l.Switches {
		entries = append(entries, journal.Entry{Kind: journal.Namespace, Name: name})
	}
	for _, h := range l.Hosts {
		entries = append(entries, journal.Entry{Kind: journal.Namespace, Name: h.Namespace})
	}
	return entries
}

// entries are those that this machine has.
func (p Plan) entries(l *Lab) []journal.Entry {
	var mine []journal.Entry
	nodes := slices.Concat(p.Switches, p.Hosts)
	for i, e := range l.entries() {
		if p.Here(nodes[i]) {
			mine = append(mine, e)
		}
	}
	return mine
}

// side is which end of a link a MAC belongs to.
type side uint16

const (
	hostSide   side = 0
	switchSide side = 1
	trunkSide  side = 2 // both ends
)

// MAC is an Ethernet address.
type MAC [6]byte

// mac numbers the links' ends. The first byte says "unicast, locally
// administered"; the same plan gives the same addresses every time, so that
// runs can be compared packet by packet.
func mac(s side, link int) MAC {
	m := MAC{0x02, 0xa9}
	binary.BigEndian.PutUint16(m[2:], uint16(s))
	binary.BigEndian.PutUint16(m[4:], uint16(link))
	return m
}

// mac is the address of a link's end, by the link's number. Of a VLAN no other lab has the
// same, beside this one or before it: switches may learn addresses without heed to VLANs.
func (p Plan) mac(number int, s side, end int) MAC {
	id := p.vlanID(number)
	if id == 0 {
		return mac(s, end)
	}
	if s == trunkSide {
		s += side(end % 2)
	}
	m := MAC{0x02, 0xaa}
	binary.BigEndian.PutUint16(m[2:], uint16(s)<<12|uint16(id))
	binary.BigEndian.PutUint16(m[4:], p.Spread.Number)
	return m
}

func (p Plan) checkDelays() error {
	if !p.delayed() {
		return nil
	}
	if len(p.Delays) != len(p.Hosts) {
		return fmt.Errorf("delays of %d hosts, want %d", len(p.Delays), len(p.Hosts))
	}
	for i, delays := range p.Delays {
		if n := len(delays); n < 1 || n > maxClasses {
			return fmt.Errorf("%d delays of host %s: want 1 to %d", n, p.Hosts[i], maxClasses)
		}
		for _, d := range delays {
			if d < 0 || d > maxDelay {
				return fmt.Errorf("delay %s of host %s: want 0 to %s", d, p.Hosts[i], maxDelay)
			}
		}
	}
	return nil
}
