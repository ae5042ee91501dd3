//go:build linux

package clab

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/units"
)

func ptr(d time.Duration) *time.Duration { return &d }

// Links in both forms, nodes of every level, and labels of others.
const full = `name: full
prefix: ""
mgmt: {network: net, ipv4-subnet: 172.20.20.0/24}
topology:
  defaults:
    kind: linux
    image: alpine:3
    labels: {owner: me}
  kinds:
    nokia_srlinux: {type: ixrd2l, cpu: 2}
  groups:
    servers:
      env: {A: b}
      labels: {aqmlab.role: host}
    fabric: {kind: bridge}
  nodes:
    zeta: {group: servers, mgmt-ipv4: 172.20.20.5, exec: [ip addr]}
    alpha:
    leaf: {kind: nokia_srlinux}
    edge: {group: fabric}
    mid: {exec: [sysctl -w a=b], binds: ["/a:/b"]}
  links:
    - endpoints: ["zeta:eth1", "leaf:e1-1"]
      labels: {aqmlab.rate: 10Gbps, aqmlab.delay: 0s, aqmlab.jitter: 5us, aqmlab.loss: 0.25%, owner: me}
      vars: {port: 1}
    - type: veth
      mtu: 9500
      endpoints:
        - {node: mid, interface: eth1}
        - node: leaf
          interface: ethernet-1/2
      labels: {aqmlab.delay: 20us}
    - {type: brief, endpoints: [edge:eth1, mid:eth2]}
    - endpoints: ["edge:eth2", "alpha:eth1"]
`

func TestParse(t *testing.T) {
	got, err := Parse("x", []byte(full))
	want := &Topology{
		Name:  "full",
		Nodes: []Node{{Name: "zeta"}, {Name: "alpha"}, {Name: "leaf", Switch: true}, {Name: "edge", Switch: true}, {Name: "mid", Switch: true}},
		Links: []Link{
			{End{0, "eth1"}, End{2, "e1-1"}, Traits{Rate: 10 * units.Gbps, Delay: ptr(0), Jitter: 5 * time.Microsecond, Loss: 0.0025}},
			{End{4, "eth1"}, End{2, "ethernet-1/2"}, Traits{Delay: ptr(20 * time.Microsecond)}},
			{End{3, "eth1"}, End{4, "eth2"}, Traits{}},
			{End{3, "eth2"}, End{1, "eth1"}, Traits{}},
		},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\n%+v\nwant\n%+v", err, got, want)
	}
}

// A label has the last word on what a node is, wherever it is inherited from:
// from the node itself, its group, its kind or the defaults, in this order. Then
// comes the kind, and then the number of links.
func TestRoles(t *testing.T) {
	const rest = `
    h2: {kind: linux, labels: {aqmlab.role: host}}
    h3: {kind: linux, labels: {aqmlab.role: host}}
    s: {kind: linux, labels: {aqmlab.role: switch}}
  links: [{endpoints: [n:a, s:a]}, {endpoints: [h2:a, s:b]}, {endpoints: [h3:a, s:c]}]
`
	const host, sw = "labels: {aqmlab.role: host}", "labels: {aqmlab.role: switch}"
	tests := map[string]struct {
		sections string // before the nodes
		node     string // one with a single link
		isSwitch bool
	}{
		"one link":                  {"", "", false},
		"kind":                      {"", "{kind: bridge}", true},
		"kind in capitals":          {"", "{kind: LINUX}", false},
		"kind of all":               {"  defaults: {kind: bridge}\n", "", true},
		"kind of its group":         {"  groups: {g: {kind: bridge}}\n", "{group: g}", true},
		"kind of all nodes' group":  {"  defaults: {group: g}\n  groups: {g: {kind: bridge}}\n", "", true},
		"own kind over its group's": {"  groups: {g: {kind: bridge}}\n", "{group: g, kind: linux}", false},
		"label over kind":           {"", "{kind: bridge, " + host + "}", false},
		"label over links":          {"", "{" + sw + "}", true},
		"label of all":              {"  defaults: {" + sw + "}\n", "", true},
		"kind over all":             {"  defaults: {" + host + "}\n  kinds: {linux: {" + sw + "}}\n", "{kind: linux}", true},
		"group over kind":           {"  kinds: {linux: {" + host + "}}\n  groups: {g: {" + sw + "}}\n", "{kind: linux, group: g}", true},
		"kind's group":              {"  kinds: {linux: {group: g}}\n  groups: {g: {" + sw + "}}\n", "{kind: linux}", true},
		"node over group":           {"  groups: {g: {" + sw + "}}\n", "{group: g, " + host + "}", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("x", []byte("topology:\n"+tt.sections+"  nodes:\n    n: "+tt.node+rest))
			if err != nil {
				t.Fatal(err)
			}
			want := []Node{{Name: "n", Switch: tt.isSwitch}, {Name: "h2"}, {Name: "h3"}, {Name: "s", Switch: true}}
			if !reflect.DeepEqual(got.Nodes, want) {
				t.Errorf("got %+v, want %+v", got.Nodes, want)
			}
		})
	}
}

// plain is a file with these nodes' and links' sections, on lines 2 and 3.
func plain(nodes, links string) string {
	return "topology:\n  nodes: {" + nodes + "}\n  links: [" + links + "]\n"
}

// The nodes and links of a file that has nothing wrong.
const (
	nodes = "h1: , h2: , s1: "
	one   = `{endpoints: ["h1:eth1", "s1:eth1"]}`
	two   = `{endpoints: ["h2:eth1", "s1:eth2"]}`
)

// bad is files by what is wrong with them, and what is said of it.
type bad map[string]struct{ file, want string }

func (b bad) test(t *testing.T) {
	for name, tt := range b {
		t.Run(name, func(t *testing.T) {
			got, err := Parse("x", []byte(tt.file))
			if err == nil || got != nil || !errors.As(err, new(schema.Errors)) || err.Error() != tt.want {
				t.Errorf("got\n%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	extended := func(a, rest string) string {
		return plain(nodes, "{type: veth, endpoints: ["+a+", {node: s1, interface: eth1}]"+rest+"}, "+two)
	}
	bad{
		// The file as a whole.
		"empty":         {"", "x: empty: want keys such as name and topology"},
		"not YAML":      {"topology: {\n", "x:2: not YAML: did not find expected node content"},
		"a list":        {"- 1\n", "x:1: not a topology: want keys such as name and topology"},
		"two documents": {plain(nodes, one+","+two) + "---\na: b\n", "x:4: not YAML: a second document: want one topology a file"},
		"template":      {"name: x\n# {{ range }}\n", "x:2: {{ makes it a template, which is not supported: want the file that containerlab writes from it"},
		"no nodes":      {"name: x\n", "x: topology.nodes: missing: want at least two hosts and a switch\nx: topology.links: missing: want hosts linked to switches"},
		"two hosts":     {plain("h1: , h2: ", `{endpoints: ["h1:eth1", "h2:eth1"]}`), "x:3: topology.links[0].endpoints: h1 and h2 are hosts: want a switch between them"},
		"one host":      {plain("h1: , s1: , s2: {kind: bridge}", `{endpoints: ["h1:eth1", "s1:eth1"]}, {endpoints: ["s1:eth2", "s2:eth1"]}`), "x:2: topology.nodes: 1 of 3 nodes are hosts: want two or more plain containers with one link, or label them aqmlab.role: host"},
		"circle of hosts": {plain("h1: , h2: , h3: ", `{endpoints: ["h1:a", "h2:b"]}, {endpoints: ["h2:a", "h3:b"]}, {endpoints: ["h3:a", "h1:b"]}`),
			"x:2: topology.nodes: 0 of 3 nodes are hosts: want two or more plain containers with one link, or label them aqmlab.role: host"},
		"circle of labelled hosts": {"topology:\n  defaults: {labels: {aqmlab.role: host}}\n  nodes: {h1: , h2: }\n  links: [{endpoints: [h1:a, h2:a]},\n    {endpoints: [h1:b, h2:b]}]\n",
			"x:2: topology.defaults.labels.aqmlab.role: host h1 has 2 links: want one\nx:2: topology.defaults.labels.aqmlab.role: host h2 has 2 links: want one\n" +
				"x:4: topology.links[0].endpoints: h1 and h2 are hosts: want a switch between them\nx:5: topology.links[1].endpoints: h1 and h2 are hosts: want a switch between them"},

		// Fields that containerlab does not have, or not so.
		"unknown field":         {"nmae: x\n" + plain(nodes, one+","+two), "x:1: nmae: unknown field: containerlab v0.60.0 has none of that name"},
		"unknown field of node": {plain("h1: {kid: linux}, h2: , s1: ", one+","+two), "x:2: topology.nodes.h1.kid: unknown field: containerlab v0.60.0 has none of that name"},
		"unknown field of link": {plain(nodes, `{endpoints: ["h1:eth1", "s1:eth1"], rate: 1Gbps}`), "x:3: topology.links[0].rate: unknown field: containerlab v0.60.0 has none of that name"},
		"unknown field of end":  {extended("{node: h1, interface: eth1, ipv4: 10.0.0.1/24}", ""), "x:3: topology.links[0].endpoints[0].ipv4: unknown field: containerlab v0.60.0 has none of that name"},
		"field twice":           {"topology:\n  nodes: {h1: , h2: , s1: {kind: linux,\n    kind: bridge}}\n", "x:3: topology.nodes.s1.kind: set twice"},
		"node twice":            {"topology:\n  nodes:\n    h1:\n    h1:\n", "x:4: topology.nodes.h1: key \"h1\" already set in map"},
		"text for a number":     {"topology:\n  nodes:\n    h1:\n      startup-delay: soon\n", "x:4: topology.nodes.h1.startup-delay: cannot unmarshal !!str `soon` into uint"},
		"list for a mapping":    {"topology: [1]\n", "x:1: topology[0]: cannot unmarshal !!seq into clab.topology"},

		// Nodes.
		"long name":        {plain("a-name-of-16-signs: , h2: , s1: ", `{endpoints: ["a-name-of-16-signs:a", "s1:a"]}, `+two), `x:2: topology.nodes.a-name-of-16-signs: "a-name-of-16-signs" is not supported as the name of a node: want 1 to 15 letters, digits and hyphens, no hyphen first, and not lo, all or default`},
		"name with a dot":  {plain("h.1: , h2: , s1: ", `{endpoints: ["h.1:a", "s1:a"]}, `+two), `x:2: topology.nodes.h.1: "h.1" is not supported as the name of a node: want 1 to 15 letters, digits and hyphens, no hyphen first, and not lo, all or default`},
		"kernel's name":    {plain("all: , h2: , s1: ", `{endpoints: ["all:a", "s1:a"]}, `+two), `x:2: topology.nodes.all: "all" is not supported as the name of a node: want 1 to 15 letters, digits and hyphens, no hyphen first, and not lo, all or default`},
		"kind":             {plain("h1: {kind: Host}, h2: , s1: ", one+","+two), `x:2: topology.nodes.h1.kind: "host" is not supported: want linux, or the kind of a switch or bridge`},
		"no link":          {plain("h1: , h2: , h3: , s1: ", one+","+two), "x:2: topology.nodes.h3: no link leads to it"},
		"role":             {plain("h1: {labels: {aqmlab.role: router}}, h2: , s1: ", one+","+two), `x:2: topology.nodes.h1.labels.aqmlab.role: unknown role "router": want one of host, switch`},
		"label":            {plain("h1: {labels: {aqmlab.rolle: host}}, h2: , s1: ", one+","+two), `x:2: topology.nodes.h1.labels.aqmlab.rolle: unknown label "aqmlab.rolle": want one of aqmlab.role (did you mean aqmlab.role?)`},
		"host of two":      {plain("h1: , h2: , s1: {labels: {aqmlab.role: host}}", one+","+two), "x:2: topology.nodes.s1.labels.aqmlab.role: host s1 has 2 links: want one\nx:3: topology.links[0].endpoints: h1 and s1 are hosts: want a switch between them\nx:3: topology.links[1].endpoints: h2 and s1 are hosts: want a switch between them"},
		"sysctls":          {plain("h1: {sysctls: {net.ipv4.tcp_ecn: 1}}, h2: , s1: ", one+","+two), "x:2: topology.nodes.h1.sysctls: not supported for a host: the lab's section host says how hosts are set up"},
		"memory of all":    {"topology:\n  defaults: {memory: 1Gb}\n  nodes: {h1: , h2: , s1: }\n  links: [" + one + "," + two + "]\n", "x:2: topology.defaults.memory: not supported for a host: want the lab's host.memory"},
		"network of hosts": {plain("h1: {network-mode: host}, h2: , s1: ", one+","+two), "x:2: topology.nodes.h1.network-mode: not supported for a host: a host has a network of its own"},
	}.test(t)
}

func TestBadLinks(t *testing.T) {
	labelled := func(labels string) string {
		return plain(nodes, `{endpoints: ["h1:eth1", "s1:eth1"], labels: {`+labels+`}}, `+two)
	}
	extended := func(a, rest string) string {
		return plain(nodes, "{type: veth, endpoints: ["+a+", {node: s1, interface: eth1}]"+rest+"}, "+two)
	}
	bad{
		// Links.
		"unknown node":      {plain(nodes, `{endpoints: ["h3:eth1", "s1:eth1"]}, `+two), `x:3: topology.links[0].endpoints[0]: unknown node "h3": want one of h1, h2, s1`},
		"taken interface":   {plain(nodes, one+`, {endpoints: ["h2:eth1", "s1:eth1"]}`), "x:3: topology.links[1].endpoints[1]: interface eth1 of s1 is an end of topology.links[0], too"},
		"itself":            {plain(nodes, one+","+two+`, {endpoints: ["s1:eth3", "s1:eth4"]}`), "x:3: topology.links[2].endpoints: s1 is linked to itself"},
		"three ends":        {plain(nodes, `{endpoints: ["h1:a", "h2:a", "s1:a"]}`), "x:3: topology.links[0].endpoints: want two, such as [h1:eth1, s1:eth1]"},
		"no ends":           {plain(nodes, `{mtu: 1500}`), "x: topology.links[0].endpoints: want two, such as [h1:eth1, s1:eth1]"},
		"no interface":      {plain(nodes, `{endpoints: [h1, "s1:eth1"]}`), "x:3: topology.links[0].endpoints[0]: want a node and an interface, such as h1:eth1"},
		"to the host":       {plain(nodes, `{endpoints: ["host:veth0", "s1:eth1"]}`), `x:3: topology.links[0].endpoints[0]: "host" is not supported: want a node of the file`},
		"macvlan":           {plain(nodes, `{endpoints: ["s1:eth1", "macvlan:eth0"]}`), `x:3: topology.links[0].endpoints[1]: "macvlan" is not supported: want a node of the file`},
		"management":        {plain(nodes, `{type: mgmt-net, endpoint: {node: s1, interface: eth1}, host-interface: x}`), `x:3: topology.links[0].type: "mgmt-net" is not supported: want veth, between two nodes of the file`},
		"no such type":      {plain(nodes, `{type: wire}`), `x:3: topology.links[0].type: "wire" is not supported: want veth, between two nodes of the file`},
		"brief as extended": {extended(`"h1:eth1"`, ""), "x:3: topology.links[0].endpoints[0]: want a node and an interface, such as {node: h1, interface: eth1}"},
		"extended, no node": {extended("{interface: eth1}", ""), "x:3: topology.links[0].endpoints[0]: want a node and an interface, such as {node: h1, interface: eth1}"},
		"MAC":               {extended("{node: h1, interface: eth1, mac: 02:00:00:00:00:01}", ""), "x:3: topology.links[0].endpoints[0].mac: not supported: the addresses of interfaces are aqmlab's own"},
		"MTU":               {extended("{node: h1, interface: eth1}", ", mtu: 1500"), "x:3: topology.links[0].mtu: not supported: want the lab's host.mtu"},

		// What links say of themselves.
		"rate without unit":  {labelled("aqmlab.rate: 10"), `x:3: topology.links[0].labels.aqmlab.rate: "10" is not a rate such as 10Gbps, 100Mbps or 64Kbps`},
		"rate in bytes":      {labelled("aqmlab.rate: 10GB"), `x:3: topology.links[0].labels.aqmlab.rate: "10GB" is not a rate such as 10Gbps, 100Mbps or 64Kbps`},
		"slow":               {labelled("aqmlab.rate: 10bps"), `x:3: topology.links[0].labels.aqmlab.rate: 10bps is outside 1Kbps to 100Tbps`},
		"delay without unit": {labelled("aqmlab.delay: 10"), `x:3: topology.links[0].labels.aqmlab.delay: "10" is not a time: want one such as 250us, 10ms or 1.5s`},
		"long delay":         {labelled("aqmlab.delay: 2s"), `x:3: topology.links[0].labels.aqmlab.delay: 2s is outside 0s to 1s`},
		"negative jitter":    {labelled("aqmlab.jitter: -1us"), `x:3: topology.links[0].labels.aqmlab.jitter: -1us is outside 0s to 1s`},
		"loss without unit":  {labelled("aqmlab.loss: 0.1"), `x:3: topology.links[0].labels.aqmlab.loss: "0.1" is not a percentage such as 0.1%`},
		"loss of all":        {labelled("aqmlab.loss: 100%"), `x:3: topology.links[0].labels.aqmlab.loss: 100% is outside 0% to below 100%`},
		"loss of NaN":        {labelled("aqmlab.loss: NaN%"), `x:3: topology.links[0].labels.aqmlab.loss: "NaN%" is not a percentage such as 0.1%`},
		"negative loss":      {labelled("aqmlab.loss: -1%"), `x:3: topology.links[0].labels.aqmlab.loss: -1% is outside 0% to below 100%`},
		"unknown label":      {labelled("aqmlab.dealy: 1us"), `x:3: topology.links[0].labels.aqmlab.dealy: unknown label "aqmlab.dealy": want one of aqmlab.delay, aqmlab.jitter, aqmlab.loss, aqmlab.rate (did you mean aqmlab.delay?)`},
	}.test(t)
}

// All that is wrong is told at once, and unknown names can be told from others.
func TestErrors(t *testing.T) {
	_, err := Parse("x", []byte(plain("h1: , s1: ", `{endpoints: ["h1:a", "s1:a"], labels: {aqmlab.rate: x}}, {endpoints: ["h2:a", "s1:b"], labels: {aqmlab.loss: y}}`)))
	var all schema.Errors
	if !errors.As(err, &all) || len(all) != 3 || !errors.Is(err, kind.ErrUnknown) {
		t.Errorf("want three errors, one for an unknown name; got\n%v", err)
	}
}

// TestManyNodes: a file of as many hosts as an address range has is read in a moment, each
// node in its place. What takes time in the square of their number takes half a minute.
func TestManyNodes(t *testing.T) {
	const hosts = 60_000
	var nodes, links strings.Builder
	for i := range hosts {
		fmt.Fprintf(&nodes, "    h%d: {kind: linux}\n", i)
		fmt.Fprintf(&links, "    - endpoints: [\"h%d:eth1\", \"sw:eth%d\"]\n", i, i+1)
	}
	text := "name: many\ntopology:\n  nodes:\n    sw: {kind: bridge}\n" + nodes.String() + "  links:\n" + links.String()
	top, err := Parse("many.clab.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(top.Nodes) != hosts+1 || top.Nodes[0].Name != "sw" || top.Nodes[hosts].Name != "h59999" || len(top.Links) != hosts {
		t.Errorf("%d nodes, %d links", len(top.Nodes), len(top.Links))
	}
}
