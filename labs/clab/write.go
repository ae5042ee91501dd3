//go:build linux

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
