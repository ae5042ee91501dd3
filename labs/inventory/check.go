package inventory

import (
	"cmp"
	"net/netip"
	"path/filepath"

	"aqmlab/labs/schema"
)

// Check looks at what no key can tell on its own, and fills in the defaults that depend on
// other keys. It wants every machine to be another one.
func (v *Inventory) Check(r *schema.Reader) {
	if len(v.VLANs) > 0 && r.Has(portKey) {
		r.Fail(portKey, "not used with %s: want one of the two", vlansKey)
	}
	daemons, addresses := make(map[string]string), make(map[netip.Addr]string)
	for i := range v.Machines {
		m := &v.Machines[i]
		m.check(r)
		m.checkInterface(r, r.Has(vlansKey))
		if first, dup := daemons[m.Docker]; dup && m.Docker != "" {
			r.Fail(m.key("docker"), "%s is the Docker daemon of %s, too", m.Docker, first)
		}
		if first, dup := addresses[m.Address]; dup && m.Address.IsValid() {
			r.Fail(m.key("address"), "%s is the address of %s, too", m.Address, first)
		}
		daemons[m.Docker], addresses[m.Address] = m.Name, m.Name
	}
}

func (m *Machine) key(name string) string { return machinesKey + "." + m.Name + "." + name }

// checkInterface wants an interface where links are VLANs, and there alone.
func (m *Machine) checkInterface(r *schema.Reader, vlans bool) {
	switch key := m.key("interface"); {
	case vlans && !r.Has(key):
		r.Fail(key, "missing: %s wants an interface of each machine, such as eth0, whose VLANs carry the links", vlansKey)
	case !vlans && m.Interface != "":
		r.Fail(key, "not used without %s: want its ids beside machines, such as %s: 100-199, or no interface, and links are VXLAN to the machine's address", vlansKey, vlansKey)
	}
}

// check is Check of one machine.
func (m *Machine) check(r *schema.Reader) {
	if !r.Has(m.key("docker")) {
		r.Fail(m.key("docker"), "missing: %s", wantEndpoint)
	}
	if !r.Has(m.key("address")) {
		r.Fail(m.key("address"), "missing: want an IPv4 address such as 192.0.2.1")
	}
	if m.Docker == "" {
		return // which has an error
	}
	m.Socket = cmp.Or(m.Socket, socketOf(m.Docker), usualSocket)
	if m.TLS == "" {
		return
	}
	if m.Scheme() != TCP {
		r.Fail(m.key("tls"), "not used when docker is %s: want tcp://host:port", m.Docker)
	}
	if !filepath.IsAbs(m.TLS) {
		abs, err := filepath.Abs(filepath.Join(r.Folder(m.key("tls")), m.TLS))
		if err != nil {
			r.Fail(m.key("tls"), "finding %s: %w", m.TLS, err)
		}
		m.TLS = abs
	}
}
