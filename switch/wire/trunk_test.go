//go:build linux

package wire

import (
	"errors"
	"net"
	"os"
	"testing"

	"github.com/vishvananda/netlink"

	"aqmlab/switch/fabric"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// chain is h1 - s1 - s2 - h2, its switches in processes of their own but for
// this test.
func chain(spec fabric.Spec) fabric.Spec {
	spec.Switches = append(spec.Switches, "s2")
	spec.Links[1].B = "s2"
	trunk := spec.Links[0]
	trunk.A, trunk.B = "s1", "s2"
	spec.Links = append(spec.Links, trunk)
	return spec
}

// setUp readies the interface of the calling thread's namespace.
func setUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// TestTrunk moves real TCP data through two switches that run apart: each counts
// its own ports, and the marks of both reach the hosts.
func TestTrunk(t *testing.T) {
	b := newBench(t, 2)
	other := newBench(t, 0)
	trunk := PortConfig{Interface: "s2", MAC: net.HardwareAddr{2, 0, 0, 0, 3, 0}, Far: net.HardwareAddr{2, 0, 0, 0, 4, 0}}
	back := PortConfig{Interface: "eth0", MAC: trunk.Far, Far: trunk.MAC}
	in(t, b.sw, func() error {
		moved, err := netlink.LinkByName(b.ports[1].Interface)
		if err != nil {
			return err
		}
		return errors.Join(addPort(other.sw, trunk), netlink.LinkSetNsFd(moved, int(other.sw)))
	})
	in(t, other.sw, func() error {
		off := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644)
		return errors.Join(off, setUp(back.Interface), setUp(b.ports[1].Interface))
	})

	spec := chain(b.spec(400*units.Mbps, queues(1, "fifo", "droptail")))
	configs := map[string]Config{
		"s1": {Ports: b.ports[:1], Trunks: []PortConfig{trunk}},
		"s2": {Ports: b.ports[1:], Trunks: []PortConfig{back}},
	}
	var switches []*Switch
	var sessions []*Session
	for i, name := range spec.Switches {
		c := configs[name]
		c.MTU, c.CPU = 1500, -1
		in(t, []*bench{b, other}[i].sw, func() error {
			s, err := Open(c, port.Kinds{})
			switches = append(switches, s)
			return err
		})
		spec.Only = name
		s, err := switches[i].Start(spec, 4)
		if err != nil {
			t.Fatal(err)
		}
		sessions = append(sessions, s)
	}
	const n = 2 << 20
	l := b.listen(t, 1)
	transfer(t, l, b.dial(t, 0, 1, 0), n)
	var reports []Report
	for i, s := range sessions {
		r, err := s.Stop()
		if err := errors.Join(err, switches[i].Close()); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	for i, far := range []string{"s2", "h2"} {
		if c := portTo(t, reports[i], far); c.Switch != spec.Switches[i] || c.Queues[0].SentBytes < n {
			t.Errorf("the port to %s: %+v", far, c)
		}
		if r := reports[i]; r.EdgeDrops != 0 || r.Ignored != 0 || len(r.Ports) != 2 {
			t.Errorf("switch %s: %+v", spec.Switches[i], r)
		}
	}
}
