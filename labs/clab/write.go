package clab

import (
	"fmt"
	"reflect"

	"github.com/srl-labs/containerlab/types"
	"gopkg.in/yaml.v2"

	"aqmlab/kind"
)

// outFile is a file as it is written: nodes keep their order, and each link
// takes two lines.
type outFile struct {
	Name     string
	Topology struct {
		Defaults types.NodeDefinition
		Nodes    yaml.MapSlice // of types.NodeDefinition
		Links    []outLink
	}
}

type outLink struct {
	Endpoints []string      `yaml:"endpoints,flow"`
	Labels    yaml.MapSlice `yaml:"labels,flow,omitempty"`
}

// Container is what the nodes of a written file run.
type Container struct {
	Image   string
	Command string // empty: that of the image
}

// YAML writes the topology as a file that containerlab deploys and [Parse]
// reads. All nodes are plain containers.
func (t *Topology) YAML(c Container) ([]byte, error) {
	out := outFile{Name: t.Name}
	out.Topology.Defaults = types.NodeDefinition{Kind: linux, Image: c.Image, Cmd: c.Command}
	for _, n := range t.Nodes {
		role := roleHost
		if n.Switch {
			role = roleSwitch
		}
		def := types.NodeDefinition{Labels: map[string]string{roleLabel: role}, Exec: n.Exec}
		out.Topology.Nodes = append(out.Topology.Nodes, yaml.MapItem{Key: n.Name, Value: def})
	}
	for _, l := range t.Links {
		link := outLink{Labels: l.Traits.labels()}
		for _, end := range []End{l.A, l.B} {
			link.Endpoints = append(link.Endpoints, t.Nodes[end.Node].Name+":"+end.Interface)
		}
		out.Topology.Links = append(out.Topology.Links, link)
	}
	data, err := yaml.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("writing topology %s: %w", t.Name, err)
	}
	return data, nil
}

// labels say what the traits say.
func (t Traits) labels() yaml.MapSlice {
	var labels yaml.MapSlice
	for _, f := range kind.Fields(reflect.TypeFor[Traits]()) {
		if v := reflect.ValueOf(t).Field(f.Index); !v.IsZero() {
			labels = append(labels, yaml.MapItem{Key: mine + f.Name, Value: kind.Encode(reflect.Indirect(v))})
		}
	}
	return labels
}

// Tree is links that join all nodes without a circle: of those that the file has
// the first.
func (t *Topology) Tree() []Link {
	root := make([]int, len(t.Nodes)) // of the tree that a node is in
	for i := range root {
		root[i] = i
	}
	var tree []Link
	for _, l := range t.Links {
		a, b := root[l.A.Node], root[l.B.Node]
		if a == b {
			continue
		}
		tree = append(tree, l)
		for i := range root {
			if root[i] == b {
				root[i] = a
			}
		}
	}
	return tree
}
