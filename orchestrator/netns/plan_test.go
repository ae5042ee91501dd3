package netns_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/orchestrator/netns"
)

func TestPlanIsChecked(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*netns.Plan)
		want  string
	}{
		{"no hosts", func(p *netns.Plan) { p.Hosts = nil }, "no hosts"},
		{"long name", func(p *netns.Plan) { p.Hosts[0] = "sixteen-letters-" }, `"sixteen-letters-"`},
		{"empty name", func(p *netns.Plan) { p.Switches = []string{""} }, `name ""`},
		{"path for a name", func(p *netns.Plan) { p.Hosts[0] = "../x" }, `"../x"`},
		{"same name twice", func(p *netns.Plan) { p.Hosts[1] = p.Hosts[0] }, `"h1" is taken`},
		{"host like the switch", func(p *netns.Plan) { p.Hosts[1] = p.Switches[0] }, `"sw" is taken`},
		{"host like the loopback", func(p *netns.Plan) { p.Hosts[1] = "lo" }, `"lo" is taken`},
		{"host like a sysctl folder", func(p *netns.Plan) { p.Hosts[1] = "all" }, `"all" is taken`},
		{"no subnet", func(p *netns.Plan) { p.Subnet = netip.Prefix{} }, "IPv4"},
		{"IPv6 subnet", func(p *netns.Plan) { p.Subnet = netip.MustParsePrefix("fd00::/64") }, "IPv4"},
		{"subnet too small", func(p *netns.Plan) { p.Subnet = netip.MustParsePrefix("10.0.0.0/30") }, "room for 2"},
		{"subnet of one address", func(p *netns.Plan) { p.Subnet = netip.MustParsePrefix("10.0.0.0/32") }, "room for 0"},
		{"gateway's subnet", func(p *netns.Plan) { p.Subnet = netip.MustParsePrefix("169.254.0.0/16") }, "gateway"},
		{"small MTU", func(p *netns.Plan) { p.MTU = 575 }, "MTU 575"},
		{"large MTU", func(p *netns.Plan) { p.MTU = 65536 }, "MTU 65536"},
		{"slow uplink", func(p *netns.Plan) { p.Uplink = 19_999 }, "uplink of 19999 bit/s"},
		{"negative uplink", func(p *netns.Plan) { p.Uplink = -1 }, "uplink of -1 bit/s"},
		{"uplinks of some", func(p *netns.Plan) { p.Uplinks = []int64{1e9} }, "1 uplinks: want one for each of"},
		{"slow uplink of one", func(p *netns.Plan) { p.Uplinks = slices.Repeat([]int64{1e9}, len(p.Hosts)); p.Uplinks[0] = 3 }, "uplink of 3 bit/s"},
		{"uplink too slow to count", func(p *netns.Plan) { p.Uplink = 19_999 }, "uplink of 19999 bit/s"},
		{"negative window", func(p *netns.Plan) { p.TCP.InitCwnd = -1 }, "window -1"},
		{"RTO of half a millisecond", func(p *netns.Plan) { p.TCP.RTOMin = 500 * time.Microsecond }, "500µs"},
		{"negative RTO", func(p *netns.Plan) { p.TCP.RTOMin = -time.Millisecond }, "-1ms"},
		{"delays of too few hosts", func(p *netns.Plan) { p.Delays = delays(2, 0) }, "delays of 2 hosts, want 3"},
		{"host without delays", func(p *netns.Plan) { p.Delays = [][]time.Duration{{0}, nil, {0}} }, "0 delays of host h2"},
		{"negative delay", func(p *netns.Plan) { p.Delays = delays(3, -1) }, "delay -1ns of host h1"},
		{"long delay", func(p *netns.Plan) { p.Delays = delays(3, 5*time.Minute) }, "delay 5m0s of host h1"},
		{"IPv6 subnet of a transport", func(p *netns.Plan) { p.Also = []netns.Speech{{Subnet: netip.MustParsePrefix("fd00::/16")}} }, "subnet fd00::/16 of transport 1: want one as long as 10.7.0.0/16"},
		{"other length of a transport's", func(p *netns.Plan) { p.Also = []netns.Speech{{Subnet: netip.MustParsePrefix("10.8.0.0/17")}} }, "want one as long as"},
		{"subnet of hosts", func(p *netns.Plan) { p.Also = []netns.Speech{{Subnet: p.Subnet}} }, "overlaps another"},
		{"subnet of two transports", func(p *netns.Plan) {
			p.Also = slices.Repeat([]netns.Speech{{Subnet: netip.MustParsePrefix("10.8.0.0/16")}}, 2)
		}, "subnet 10.8.0.0/16 of transport 2 overlaps another"},
		{"negative CPU", func(p *netns.Plan) { p.ReceiveCPUs = []int{-1} }, "CPU -1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := plan(3)
			test.spoil(&p)
			if _, err := p.Lab("00ff"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one with %q", err, test.want)
			}
		})
	}
	p := plan(3)
	p.Switches, p.MTU = []string{""}, 0
	if _, err := p.Lab("00ff"); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error %v; want both faults", err)
	}
}

func TestLabOfAPlan(t *testing.T) {
	p := plan(2)
	p.Subnet = netip.MustParsePrefix("10.7.1.9/30") // a host's address names its subnet
	lab, err := p.Lab("00ff")
	if err != nil {
		t.Fatal(err)
	}
	want := &netns.Lab{ID: "00ff", Switches: []string{"aqm-00ff-sw"}, Hosts: []netns.Host{
		{
			Name: "h1", Namespace: "aqm-00ff-h1", Addr: netip.MustParseAddr("10.7.1.9"),
			MAC: netns.MAC{2, 0xa9, 0, 0, 0, 0}, Gateway: netns.MAC{2, 0xa9, 0, 1, 0, 0},
		},
		{
			Name: "h2", Namespace: "aqm-00ff-h2", Addr: netip.MustParseAddr("10.7.1.10"),
			MAC: netns.MAC{2, 0xa9, 0, 0, 0, 1}, Gateway: netns.MAC{2, 0xa9, 0, 1, 0, 1},
		},
	}}
	if !reflect.DeepEqual(lab, want) {
		t.Errorf("lab %+v, want %+v", lab, want)
	}
	if got, want := string(lab.HostsFile()), "127.0.0.1 localhost\n10.7.1.9 h1\n10.7.1.10 h2\n"; got != want {
		t.Errorf("hosts file %q, want %q", got, want)
	}
	raw, err := json.Marshal(lab)
	if err != nil {
		t.Fatal(err)
	}
	var back netns.Lab
	if err := json.Unmarshal(raw, &back); err != nil || !reflect.DeepEqual(&back, want) {
		t.Errorf("lab from %s: %+v, %v", raw, back, err)
	}
}

func TestAddressesAreDistinct(t *testing.T) {
	lab, err := plan(1000).Lab("00ff")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]string)
	for _, h := range lab.Hosts {
		for what, address := range map[string]fmt.Stringer{"address": h.Addr, "MAC": h.MAC, "gateway": h.Gateway} {
			if other, taken := seen[address.String()]; taken {
				t.Errorf("%s %s of %s is also %s", what, address, h.Name, other)
			}
			seen[address.String()] = what + " of " + h.Name
		}
		for _, m := range []netns.MAC{h.MAC, h.Gateway} {
			if m[0]&3 != 2 {
				t.Errorf("MAC %s of %s is not a locally administered unicast one", m, h.Name)
			}
		}
	}
}

func TestMACText(t *testing.T) {
	var m netns.MAC
	if err := m.UnmarshalText([]byte("02:A9:00:01:00:ff")); err != nil || m.String() != "02:a9:00:01:00:ff" {
		t.Errorf("read %s, %v", m, err)
	}
	for _, bad := range []string{"", "02:a9", "02:a9:00:01:00:00:00:01", "02:a9:00:01:00:zz"} {
		if err := m.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was read as %s", bad, m)
		}
	}
}
