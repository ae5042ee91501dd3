package labs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/labs/clab"
	"aqmlab/switch/port"
	"aqmlab/units"
)

// bareRate is the rate of links that do not say theirs, where a containerlab
// file stands for a lab.
const bareRate = units.Gbps

// clabName is the name of a containerlab file without its folder and extension,
// or nothing when ref is none.
func clabName(ref string) string {
	base := filepath.Base(ref)
	for _, ext := range []string{".clab.yml", ".clab.yaml"} {
		if name, ok := strings.CutSuffix(base, ext); ok {
			return name
		}
	}
	return ""
}

// openTopology makes a lab of a containerlab file, or of one of the book: all
// defaults, droptail, and DCTCP's marking where the file says what it needs, the
// base RTT.
func openTopology(ref string, kinds port.Kinds) (d *document, dir string, err error) {
	data, err := os.ReadFile(ref)
	dir = filepath.Dir(ref)
	if errors.Is(err, fs.ErrNotExist) {
		if inBook, bookErr := topologies.ReadFile(ref); bookErr == nil {
			data, err, dir = inBook, nil, ""
		}
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading a topology: %w", err)
	}
	t, err := clab.Parse(data)
	var wrong clab.Errors
	if errors.As(err, &wrong) {
		return nil, "", fromClab(ref, wrong)
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading a topology: %w", err)
	}
	file := ref
	if dir != "" {
		file = filepath.Base(ref)
	}
	d = parse(ref, labOf(t, file), kinds)
	clear(d.lines) // they are not the file's
	return d, dir, nil
}

// labOf writes the lab that a containerlab file stands for.
func labOf(t *clab.Topology, file string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", slug(cmp.Or(t.Name, clabName(file))+extension))
	fmt.Fprintf(&b, "topology: {file: %q", file)
	hasRate := func(l clab.Link) bool { return l.Rate > 0 }
	hasDelay := func(l clab.Link) bool { return l.Delay != nil && *l.Delay > 0 }
	if !all(t.Links, hasRate) {
		fmt.Fprintf(&b, ", rate: %v", bareRate)
	}
	b.WriteString("}\nschemes:\n  - {name: droptail, aqm: droptail}\n")
	if all(t.Links, hasDelay) {
		b.WriteString("  - {name: dctcp-red, aqm: dctcp-red}\n")
	}
	return []byte(b.String())
}

func all[T any](items []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(items, func(item T) bool { return !holds(item) })
}

// Containerlab writes the network of the lab as a file that containerlab
// deploys, and that is a topology for labs: hosts have the addresses that they
// have here, and switches are bridges, since containerlab knows neither rates nor
// delays nor schemes. The image of all nodes must go on until it is stopped and
// have iproute2's ip; without one it is aqmlab's own, under the name aqmlab.
func (l *Lab) Containerlab(image string) ([]byte, error) {
	t, err := l.clab()
	if err != nil {
		return nil, fmt.Errorf("exporting lab %s: %w", l.Name, err)
	}
	c := clab.Container{Image: image}
	if image == "" {
		c = clab.Container{Image: ownName, Command: AgentCommand + " " + AgentIdle}
	}
	setUp(t, image == "")
	return t.YAML(c)
}

// clab is the network of the lab.
func (l *Lab) clab() (*clab.Topology, error) {
	spec, err := l.fabric(l.schemeNames()[0], 0)
	if err != nil {
		return nil, err
	}
	layout, err := l.Topology.layout()
	if err != nil {
		return nil, err
	}
	t := &clab.Topology{Name: l.Name}
	place := make(map[string]int, len(spec.Hosts)+len(spec.Switches))
	for _, h := range spec.Hosts {
		place[h.Name] = len(t.Nodes)
		t.Nodes = append(t.Nodes, clab.Node{Name: h.Name})
	}
	for _, name := range spec.Switches {
		place[name] = len(t.Nodes)
		t.Nodes = append(t.Nodes, clab.Node{Name: name, Switch: true})
	}
	used := make([]int, len(t.Nodes))
	for i, link := range spec.Links {
		var ends [2]clab.End
		for e, name := range []string{link.A, link.B} {
			node := place[name]
			used[node]++
			ends[e] = clab.End{Node: node, Interface: fmt.Sprintf("eth%d", used[node])}
			if layout.Interfaces != nil {
				ends[e].Interface = layout.Interfaces[i][e]
			}
		}
		t.Links = append(t.Links, clab.Link{A: ends[0], B: ends[1], Traits: clab.Traits{
			Rate: link.Rate, Delay: &link.Delay, Jitter: link.Jitter, Loss: link.LossRate,
		}})
	}
	return t, nil
}

// ownName is what aqmlab's own image is called in exported files, and the only
// program in it.
const ownName = "aqmlab"

// What aqmlab does as a node of containerlab, as its command line has it.
const (
	AgentCommand = "agent"
	AgentIdle    = "idle"    // wait until stopped
	AgentAddress = "address" // DEVICE PREFIX
	AgentBridge  = "bridge"  // DEVICE...
)

// setUp tells containerlab's nodes what to run: hosts take their addresses, and
// switches bridge those of their links that make a tree.
func setUp(t *clab.Topology, own bool) {
	ports := make([][]string, len(t.Nodes))
	for _, link := range t.Tree() {
		for _, end := range []clab.End{link.A, link.B} {
			ports[end.Node] = append(ports[end.Node], end.Interface)
		}
	}
	for i := range t.Nodes {
		switch n := &t.Nodes[i]; {
		case n.Switch && own:
			n.Exec = []string{strings.Join(append([]string{ownName, AgentCommand, AgentBridge}, ports[i]...), " ")}
		case n.Switch:
			n.Exec = []string{"ip link add br0 type bridge", "ip link set br0 up"}
			for _, port := range ports[i] {
				n.Exec = append(n.Exec, "ip link set "+port+" master br0")
			}
		case own:
			n.Exec = []string{fmt.Sprintf("%s %s %s %s %v/16", ownName, AgentCommand, AgentAddress, ports[i][0], address(i))}
		default:
			n.Exec = []string{fmt.Sprintf("ip address add %v/16 dev %s", address(i), ports[i][0])}
		}
	}
}
