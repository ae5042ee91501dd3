package labs_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"aqmlab/labs"
	"aqmlab/units"
)

// on is a lab with that topology on line 1.
func on(topology string) string {
	return "topology: " + topology + "\nschemes: [{name: droptail, aqm: droptail}]\n"
}

func TestTopologies(t *testing.T) {
	const half = 5 * units.Gbps
	tests := map[string]struct {
		topology                     string
		hosts, switches, links, hops int // hops: links on the longest path
		first, last                  string
		core                         units.Rate // of the links between switches
		rack                         int        // hosts of each
	}{
		"star":           {`{kind: star, hosts: 5, rate: 10Gbps}`, 5, 1, 5, 2, "s1", "s1", 0, 5},
		"leaf-spine":     {`{kind: leaf-spine, leaves: 3, spines: 4, hosts_per_leaf: 2, rate: 10Gbps}`, 6, 7, 6 + 12, 4, "l1", "p4", 10 * units.Gbps, 2},
		"oversubscribed": {`{kind: leaf-spine, leaves: 2, spines: 1, hosts_per_leaf: 3, rate: 10Gbps, core_rate: 5Gbps}`, 6, 3, 6 + 2, 4, "l1", "p1", half, 3},
		"TCN":            {`{kind: leaf-spine, leaves: 12, spines: 12, hosts_per_leaf: 12, rate: 10Gbps}`, 144, 24, 144 + 144, 4, "l1", "p12", 10 * units.Gbps, 12},
		"tree":           {`{kind: tree, racks: 3, hosts_per_rack: 2, rate: 1Gbps, core_rate: 5Gbps}`, 6, 4, 6 + 3, 4, "t1", "c1", half, 2},
		"ABQ":            {`{kind: tree, racks: 40, hosts_per_rack: 25, rate: 1Gbps, core_rate: 25Gbps}`, 1000, 41, 1040, 4, "t1", "c1", 25 * units.Gbps, 25},
		"fat-tree":       {`{kind: fat-tree, k: 4, rate: 10Gbps}`, 16, 20, 48, 6, "t1", "c4", 10 * units.Gbps, 2},
		"fat-tree of 6":  {`{kind: fat-tree, k: 6, rate: 10Gbps}`, 54, 45, 162, 6, "t1", "c9", 10 * units.Gbps, 3},
		"defaults":       {`{kind: fat-tree, rate: 10Gbps}`, 16, 20, 48, 6, "t1", "c4", 10 * units.Gbps, 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := load(t, write(t, "x.yaml", on(tt.topology)), "topology.link_delay=1ms")
			spec, err := l.Fabric("droptail", 1)
			if err != nil {
				t.Fatal(err)
			}
			if l.Topology.Hosts != tt.hosts || len(spec.Hosts) != tt.hosts || len(spec.Switches) != tt.switches || len(spec.Links) != tt.links {
				t.Errorf("%d hosts (%d in the lab), %d switches, %d links; want %d, %d, %d",
					len(spec.Hosts), l.Topology.Hosts, len(spec.Switches), len(spec.Links), tt.hosts, tt.switches, tt.links)
			}
			if first, last := spec.Switches[0], spec.Switches[len(spec.Switches)-1]; first != tt.first || last != tt.last {
				t.Errorf("switches %s to %s, want %s to %s", first, last, tt.first, tt.last)
			}
			for i, link := range spec.Links {
				want := l.Topology.Rate
				if i >= tt.hosts {
					want = tt.core
				} else if link.A != fmt.Sprintf("h%d", i+1) {
					t.Errorf("link %d is that of %s", i, link.A)
				}
				if link.Rate != want || link.Delay != time.Millisecond {
					t.Errorf("link %s to %s: %v, %v; want %v, 1ms", link.A, link.B, link.Rate, link.Delay, want)
				}
			}
			checkRacks(t, l, tt.rack)
			if want := time.Duration(2*tt.hops) * time.Millisecond; l.RTT.Min != want {
				t.Errorf("base RTT %v, want %v", l.RTT.Min, want)
			}
			if again := reload(t, l); !reflect.DeepEqual(l, again) {
				t.Errorf("wrote\n%+v\nand read\n%+v", l, again)
			}
		})
	}
}

// checkRacks wants racks of that many neighbours, and each host linked to its
// rack's switch.
func checkRacks(t *testing.T, l *labs.Lab, each int) {
	t.Helper()
	spec, err := l.Fabric("droptail", 1)
	if err != nil {
		t.Fatal(err)
	}
	racks := l.Topology.Racks()
	for host, rack := range racks {
		if rack != host/each || spec.Links[host].B != spec.Switches[rack] {
			t.Errorf("host %d is in rack %d and linked to %s", host, rack, spec.Links[host].B)
		}
	}
	if len(racks) != len(spec.Hosts) {
		t.Errorf("racks of %d hosts", len(racks))
	}
}

// In a fat-tree every switch has k ports, and a pod reaches every core switch.
func TestFatTreePorts(t *testing.T) {
	const k = 6
	p := newPinger(t, load(t, write(t, "x.yaml", on("{kind: fat-tree, k: 6, rate: 10Gbps}"))), 1)
	ports, pods := map[string]int{}, map[string][]string{}
	for _, port := range p.Ports() {
		ports[port.Switch]++
		if strings.HasPrefix(port.Switch, "c") {
			var a int
			fmt.Sscanf(port.Far, "a%d", &a)
			pods[port.Switch] = append(pods[port.Switch], fmt.Sprint((a-1)/(k/2)))
		}
	}
	for name, n := range ports {
		if n != k {
			t.Errorf("%s has %d ports, want %d", name, n, k)
		}
	}
	for name, reached := range pods {
		slices.Sort(reached)
		if got := strings.Join(reached, ""); got != "012345" {
			t.Errorf("%s reaches the pods %s, want each once", name, got)
		}
	}
}

// The base RTT between the hosts that are furthest apart is the lab's. Hosts of
// one rack are nearer, unless the hosts are what takes the time.
func TestPathRTT(t *testing.T) {
	for name, tt := range map[string]struct {
		set       []string
		far, near time.Duration
	}{
		"star":               {[]string{"rtt=240us"}, 240 * time.Microsecond, 240 * time.Microsecond},
		"leaf-spine":         {[]string{"topology.kind=leaf-spine", "rtt=240us"}, 240 * time.Microsecond, 120 * time.Microsecond},
		"leaf-spine, hosts":  {[]string{"topology.kind=leaf-spine", "rtt=80us", "rtt.base=hosts"}, 80 * time.Microsecond, 80 * time.Microsecond},
		"leaf-spine, 12.5us": {[]string{"topology.kind=leaf-spine", "topology.link_delay=12500ns"}, 100 * time.Microsecond, 50 * time.Microsecond},
		"tree":               {[]string{"topology.kind=tree", "topology.link_delay=40us"}, 320 * time.Microsecond, 160 * time.Microsecond},
		"fat-tree":           {[]string{"topology.kind=fat-tree", "rtt=240us"}, 240 * time.Microsecond, 80 * time.Microsecond},
	} {
		t.Run(name, func(t *testing.T) {
			l := load(t, write(t, "x.yaml", base), append(tt.set, hundredTbps)...)
			p := newPinger(t, l, 1)
			if got := p.ping(t, 0, l.Topology.Hosts-1, 7); !near(got, tt.far) || l.RTT.Min != tt.far {
				t.Errorf("RTT of %v between the first and the last host, want %v; the lab says %v", got, tt.far, l.RTT.Min)
			}
			if got := p.ping(t, 0, 1, 7); !near(got, tt.near) {
				t.Errorf("RTT of %v between neighbours, want %v", got, tt.near)
			}
		})
	}
}

// An override of the kind drops what the file gives the kind before.
func TestTopologyOverrides(t *testing.T) {
	path := write(t, "x.yaml", on("{kind: star, hosts: 5, rate: 1Gbps}"))
	if l := load(t, path, "topology=leaf-spine", "topology.spines=3"); l.Topology.Hosts != 8 || !reflect.DeepEqual(l.Topology.Params, map[string]any{"spines": 3}) {
		t.Errorf("%+v, want the default leaves and three spines", l.Topology)
	}
	path = write(t, "y.yaml", on("{kind: leaf-spine, leaves: 4, rate: 1Gbps}"))
	if l := load(t, path, "topology.kind=star", "topology.hosts=3"); l.Topology.Hosts != 3 || l.Topology.Params != nil {
		t.Errorf("%+v, want a star of three hosts", l.Topology)
	}
}

func TestBadTopologies(t *testing.T) {
	tests := map[string]struct{ topology, want string }{
		"hosts of another":   {"{rate: 1Gbps, kind: leaf-spine, hosts: 8}", `x.yaml:1: topology.hosts: not used when topology.kind is leaf-spine: want star`},
		"leaves of a star":   {"{rate: 1Gbps, leaves: 8}", `x.yaml:1: topology.leaves: not used when topology.kind is star: want leaf-spine`},
		"core of a star":     {"{rate: 1Gbps, core_rate: 1Gbps}", `x.yaml:1: topology.core_rate: not used when topology.kind is star: want leaf-spine or tree`},
		"k of a tree":        {"{rate: 1Gbps, kind: tree,\n  k: 4}", `x.yaml:2: topology.k: not used when topology.kind is tree: want fat-tree`},
		"core of a fat-tree": {"{rate: 1Gbps, kind: fat-tree, core_rate: 1Gbps}", `x.yaml:1: topology.core_rate: not used when topology.kind is fat-tree: want leaf-spine or tree`},
		"unknown key":        {"{rate: 1Gbps, kind: tree, rack: 3}", `x.yaml:1: topology.rack: unknown parameter: want one of racks, hosts_per_rack, core_rate (did you mean racks?)`},
		"misspelt rate":      {"{rate: 1Gbps, kind: fat-tree, rat: 3}", `x.yaml:1: topology.rat: unknown parameter: want one of k (did you mean rate?)`},
		"one leaf":           {"{rate: 1Gbps, kind: leaf-spine, leaves: 1}", `x.yaml:1: topology.leaves: 1 is outside 2 to 1000`},
		"no spine":           {"{rate: 1Gbps, kind: leaf-spine, spines: 0}", `x.yaml:1: topology.spines: 0 is outside 1 to 1000`},
		"no hosts":           {"{rate: 1Gbps, kind: leaf-spine, hosts_per_leaf: 0}", `x.yaml:1: topology.hosts_per_leaf: 0 is outside 1 to 65534`},
		"too many hosts":     {"{rate: 1Gbps, kind: leaf-spine, leaves: 3, hosts_per_leaf: 21845}", `x.yaml:1: topology.hosts_per_leaf: 3 racks of 21845 hosts: want at most 65534 hosts`},
		"one rack":           {"{rate: 1Gbps, kind: tree, racks: 1}", `x.yaml:1: topology.racks: 1 is outside 2 to 1000`},
		"too many in racks":  {"{rate: 1Gbps, kind: tree, racks: 1000, hosts_per_rack: 66}", `x.yaml:1: topology.hosts_per_rack: 1000 racks of 66 hosts: want at most 65534 hosts`},
		"odd k":              {"{rate: 1Gbps, kind: fat-tree, k: 5}", `x.yaml:1: topology.k: 5 is odd: want an even number`},
		"large k":            {"{rate: 1Gbps, kind: fat-tree, k: 64}", `x.yaml:1: topology.k: 64 is outside 2 to 62`},
		"slow core":          {"{rate: 1Gbps, kind: tree, core_rate: 10bps}", `x.yaml:1: topology.core_rate: 10bps is outside 1Kbps to 100Tbps`},
		"core without unit":  {"{rate: 1Gbps, kind: tree, core_rate: 10}", `x.yaml:1: topology.core_rate: 10 has no unit: want a rate such as 10Gbps or 100Mbps`},
		"a number":           {"3", "x.yaml:1: topology.kind: 3 is not text: want one of star, leaf-spine, tree, fat-tree, containerlab\nx.yaml:1: topology.rate: missing: want a rate such as 10Gbps or 100Mbps"},
		"link delay":         {"{rate: 1Gbps, link_delay: 0us}", `x.yaml:1: topology.link_delay: 0s is outside 1ns to 1s`},
		"two base RTTs":      {"{rate: 1Gbps, link_delay: 1us}\nrtt: 4us", `x.yaml:2: rtt.min: topology.link_delay is set, too, and says what the base RTT is: want one of the two`},
		"place of none":      {"{rate: 1Gbps, link_delay: 1us}\nrtt: {base: hosts}", `x.yaml:2: rtt.base: topology.link_delay is set, too, and says what the base RTT is: want one of the two`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := labs.Parse("x.yaml", []byte(on(tt.topology)))
			if err == nil || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}
