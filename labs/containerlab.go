package labs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/bounded"
	"aqmlab/labs/clab"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
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
func openTopology(ref string) (schema.Source, *topologies.File, error) {
	data, err := bounded.ReadFile(ref, clab.MaxFile)
	dir, file := filepath.Dir(ref), filepath.Base(ref)
	if errors.Is(err, fs.ErrNotExist) {
		if inBook, bookErr := topologies.InBook(ref); bookErr == nil {
			data, err, dir, file = inBook, nil, "", ref
		}
	}
	if err != nil {
		return schema.Source{}, nil, fmt.Errorf("reading a topology: %w", err)
	}
	t, err := clab.Parse(ref, data)
	if err != nil {
		return schema.Source{}, nil, err
	}
	at := schema.Source{File: ref, Dir: dir, Data: labOf(t, file), Made: true}
	return at, &topologies.File{Data: data, Topology: t}, nil
}

// labOf writes the lab that a containerlab file stands for.
func labOf(t *clab.Topology, file string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\n", nameOf(cmp.Or(t.Name, clabName(file))+extension))
	fmt.Fprintf(&b, "topology: {file: %q", file)
	if slices.ContainsFunc(t.Links, func(l clab.Link) bool { return l.Rate == 0 }) {
		fmt.Fprintf(&b, ", rate: %v", bareRate)
	}
	b.WriteString("}\nschemes:\n  - {name: droptail, aqm: droptail}\n")
	if !slices.ContainsFunc(t.Links, func(l clab.Link) bool { return l.DelayOr(0) == 0 }) {
		b.WriteString("  - {name: dctcp-red, aqm: dctcp-red}\n")
	}
	return []byte(b.String())
}

// Network is the network of the lab as a containerlab file has it: hosts have the
// addresses that they have here.
func (l *Lab) Network() (*clab.Topology, error) {
	spec, err := l.Fabric(l.schemeNames()[0], 0)
	if err != nil {
		return nil, err
	}
	layout, err := l.Topology.layout()
	if err != nil {
		return nil, fmt.Errorf("laying out lab %s: %w", l.Name, err)
	}
	t := &clab.Topology{Name: l.Name}
	place := make(map[string]int, len(spec.Hosts)+len(spec.Switches))
	for _, h := range spec.Hosts {
		place[h.Name] = len(t.Nodes)
		t.Nodes = append(t.Nodes, clab.Node{Name: h.Name, Addr: h.Addr})
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
			Rate: link.Rate, Delay: &link.Delay, Jitter: link.Jitter, Loss: clab.Share(link.LossRate),
		}})
	}
	return t, nil
}
