package topologies

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aqmlab/labs/clab"
	"aqmlab/units"
)

// lay lays a topology out.
func lay(t *testing.T, name string, params map[string]any, env Env) Layout {
	t.Helper()
	l, err := Table().New(name, params, env)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestRegular: the sizes and the longest paths that follow from how topologies are built: a
// fat tree of k-port switches has k^3/4 hosts, 5k^2/4 switches, and 6 links from pod to pod
// (Al-Fares et al., SIGCOMM 2008).
func TestRegular(t *testing.T) {
	for _, tt := range []struct {
		name                          string
		params                        map[string]any
		hosts, switches, trunks, hops int
	}{
		{Star, nil, 7, 1, 0, 2},
		{"leaf-spine", map[string]any{"leaves": 3, "spines": 2, "hosts_per_leaf": 4}, 12, 5, 6, 4},
		{"tree", map[string]any{"racks": 3, "hosts_per_rack": 5}, 15, 4, 3, 4},
		{"fat-tree", map[string]any{"k": 4}, 16, 20, 32, 6},
		{"fat-tree", map[string]any{"k": 6}, 54, 45, 108, 6},
	} {
		l := lay(t, tt.name, tt.params, Env{Hosts: 7, Rate: units.Gbps})
		if len(l.Names) != tt.hosts || len(l.Racks) != tt.hosts || len(l.Switches) != tt.switches || len(l.Trunks) != tt.trunks || l.Hops != tt.hops {
			t.Errorf("%s %v: %d hosts, %d switches, %d trunks, %d hops", tt.name, tt.params, len(l.Names), len(l.Switches), len(l.Trunks), l.Hops)
		}
		if l.Names[0] != "h1" || slices.Contains(l.Racks, -1) {
			t.Errorf("%s: hosts %v in racks %v", tt.name, l.Names, l.Racks)
		}
		degree := make([]int, len(l.Switches))
		for _, rack := range l.Racks {
			degree[rack]++
		}
		for _, trunk := range l.Trunks {
			degree[trunk.A]++
			degree[trunk.B]++
		}
		if k, ok := tt.params["k"].(int); ok && (slices.Min(degree) != k || slices.Max(degree) != k) {
			t.Errorf("%s of %d ports: %v ports are used", tt.name, k, degree)
		}
	}
}

// TestReadOnce: a file that was parsed is not parsed again, unless it has changed since.
func TestReadOnce(t *testing.T) {
	const text = "topology:\n  nodes: {s1: {kind: bridge}, a: {kind: linux}, b: {kind: linux}}\n  links: [{endpoints: ['s1:eth1', 'a:eth1']}, {endpoints: ['s1:eth2', 'b:eth1']}]\n"
	path := filepath.Join(t.TempDir(), "x.clab.yml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := clab.Parse("y", []byte(strings.ReplaceAll(text, "b:", "c:")))
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]any{FileKey: path}
	for data, want := range map[string]string{text: "c", text + "\n": "b"} {
		l := lay(t, OnFile, params, Env{Read: &File{Data: []byte(data), Topology: other}})
		if got := l.Names[1]; got != want {
			t.Errorf("the second host is %s, want %s", got, want)
		}
	}
}

// ring is three switches in a ring, with a host at each. Links name their interfaces in either
// order.
const ring = `topology:
  nodes: {s1: {kind: bridge}, a: {kind: linux}, s2: {kind: bridge}, b: {kind: linux}, s3: {kind: bridge}, c: {kind: linux}}
  links:
    - endpoints: ["s1:eth1", "a:eth0"]
    - endpoints: ["s1:eth2", "s2:eth2"]
    - endpoints: ["b:eth9", "s2:eth1"]
    - endpoints: ["s3:eth2", "s2:eth3"]
    - endpoints: ["s3:eth1", "c:eth0"]
    - endpoints: ["s1:eth3", "s3:eth3"]
`

// TestRing: hosts come first, then trunks, with the names at the ends of their links. Two hosts
// are three links apart, and a spanning tree has one trunk less.
func TestRing(t *testing.T) {
	parsed, err := clab.Parse("x", []byte(ring))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.clab.yml")
	if err := os.WriteFile(path, []byte(ring), 0o600); err != nil {
		t.Fatal(err)
	}
	l := lay(t, OnFile, map[string]any{FileKey: path}, Env{})
	want := [][2]string{{"eth0", "eth1"}, {"eth9", "eth1"}, {"eth0", "eth1"}, {"eth2", "eth2"}, {"eth2", "eth3"}, {"eth3", "eth3"}}
	if !slices.Equal(l.Interfaces, want) || l.Hops != 3 {
		t.Errorf("interfaces %v, %d hops", l.Interfaces, l.Hops)
	}
	tree := parsed.Tree()
	var left []string
	for _, link := range parsed.Links {
		if !slices.ContainsFunc(tree, func(in clab.Link) bool { return in.A == link.A && in.B == link.B }) {
			left = append(left, parsed.Nodes[link.A.Node].Name+"-"+parsed.Nodes[link.B.Node].Name)
		}
	}
	if len(tree) != 5 || !slices.Equal(left, []string{"s1-s3"}) {
		t.Errorf("the tree has %d links, and lacks %v", len(tree), left)
	}
}

// TestMostHosts: 10.77.0.0/16 has addresses for 65,534 hosts.
func TestMostHosts(t *testing.T) {
	for _, tt := range []struct {
		leaves, hosts int
		good          bool
	}{{2, 32767, true}, {5, 13107, false}} {
		_, err := Table().New("leaf-spine", map[string]any{"leaves": tt.leaves, "hosts_per_leaf": tt.hosts}, Env{Rate: units.Gbps})
		if (err == nil) != tt.good {
			t.Errorf("%d leaves with %d hosts: %v", tt.leaves, tt.hosts, err)
		}
	}
}
