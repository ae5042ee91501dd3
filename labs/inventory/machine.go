package inventory

import (
	"net/netip"
	"strings"
)

// Inventory is a list of machines. The tags say what its file looks like, see package
// schema.
type Inventory struct {
	Machines []Machine `lab:"machines" what:"machine" example:"{name: m1, docker: ssh://root@192.0.2.1, address: 192.0.2.1}" doc:"machines that the lab lies on, see [rack.md](rack.md); without, this one alone"`
	VLANs    []int     `lab:"vlans" form:"vlans" write:"set" distinct:"yes" range:"1..4094" doc:"ids of 802.1Q VLANs, such as 100-199: each link between machines is one, on the interface of each machine; without, links are VXLAN"`
	Port     int       `lab:"vxlan.port" write:"changed" default:"4789" range:"1..65535" doc:"UDP port of the links between machines (VXLAN)"`
}

// Machine is a machine with a Docker daemon.
type Machine struct {
	Name    string     `lab:"name" form:"name" doc:"unique in the list"`
	Docker  string     `lab:"docker" form:"endpoint" write:"set" required:"yes" doc:"required; its Docker daemon: ssh://user@host:port, tcp://host:port, unix:///path of a socket, or the name of a Docker context"`
	TLS     string     `lab:"tls" write:"set" doc:"of tcp: folder with ca.pem, cert.pem and key.pem, from the folder of the file; without, no encryption and no check of who asks"`
	Socket  string     `lab:"socket" form:"socket" write:"set" doc:"path at which the daemon listens on its machine; that of docker if it has one, else /var/run/docker.sock"`
	Address netip.Addr `lab:"address" form:"address" write:"set" required:"yes" doc:"required; IPv4 address at which the others reach it, and that VXLAN links go to"`
	CPUs    []int      `lab:"cpus" form:"cpus" write:"set" distinct:"yes" range:"0..8191" doc:"CPUs that the lab may use, such as 0-3,8; without, all"`

	Interface string `lab:"interface" form:"interface" write:"set" doc:"required with vlans: interface whose VLANs carry the links"`
}

const (
	machinesKey = "machines"
	vlansKey    = "vlans"
	portKey     = "vxlan.port"

	// usualSocket is where a Docker daemon listens unless it is told otherwise.
	usualSocket = "/var/run/docker.sock"
)

// How a daemon is reached: the schemes of endpoints.
const (
	SSH     = "ssh"
	TCP     = "tcp"
	Unix    = "unix"
	Context = "" // by a Docker context of that name
)

// Scheme is how the machine's daemon is reached.
func (m Machine) Scheme() string {
	scheme, _, isURL := strings.Cut(m.Docker, "://")
	if !isURL {
		return Context
	}
	return scheme
}

// Names lists the names of the machines.
func (v Inventory) Names() []string {
	names := make([]string, len(v.Machines))
	for i, m := range v.Machines {
		names[i] = m.Name
	}
	return names
}
