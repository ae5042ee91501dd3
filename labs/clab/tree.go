//go:build linux

package clab

import (
	"fmt"
	"strings"

	"github.com/srl-labs/containerlab/links"
	"github.com/srl-labs/containerlab/types"
	"go.yaml.in/yaml/v3"

	"aqmlab/labs/schema"
)

// file is a containerlab file as its binary decodes it. Its own type for it,
// clab.Config, stands in a package that drags in every container runtime.
type file struct {
	Name     string
	Prefix   *string
	Mgmt     *types.MgmtNet
	Settings *types.Settings
	Topology topology
	Debug    bool
}

// topology is containerlab's, with the groups that came after the version of it
// that can be imported.
type topology struct {
	types.Topology `yaml:",inline"`
	Groups         map[string]*types.NodeDefinition `yaml:"groups,omitempty"`
}

// parser is a file being read.
type parser struct {
	file
	name  string         // of the file
	lines map[string]int // of fields
	order []string       // names of the nodes
	errs  schema.Errors
}

// fail blames a field.
func (p *parser) fail(field, format string, args ...any) {
	p.errs = append(p.errs, &schema.Error{Source: p.name, Line: p.lines[field], Key: field, Err: fmt.Errorf(format, args...)})
}

// index notes the lines of all fields, and the order of the nodes. It does not
// follow aliases: what they stand for is indexed where it is written.
func (p *parser) index(node *yaml.Node, path string) {
	if _, seen := p.lines[path]; !seen {
		p.lines[path] = node.Line
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for i, item := range node.Content {
			p.index(item, fmt.Sprintf("%s[%d]", path, i))
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			name := node.Content[i]
			inner := strings.TrimPrefix(path+"."+name.Value, ".")
			if path == "topology.nodes" {
				p.order = append(p.order, name.Value)
			}
			p.lines[inner] = name.Line
			p.index(node.Content[i+1], inner)
		}
	}
}

// checkLinkForms looks at what containerlab's types refuse without saying where:
// the type of links and the form of their ends. Whatever else does not fit is
// theirs to refuse.
func (p *parser) checkLinkForms(root *yaml.Node) {
	var file struct{ Topology struct{ Links []yaml.Node } }
	_ = root.Decode(&file)
	for i := range file.Topology.Links {
		link := struct {
			Type      string
			Endpoints []yaml.Node
		}{Type: string(links.LinkTypeBrief)}
		_ = file.Topology.Links[i].Decode(&link)
		field, form := linkField(i), links.LinkType(strings.ToLower(strings.TrimSpace(link.Type)))
		if form != links.LinkTypeBrief && form != links.LinkTypeVEth {
			p.fail(field+".type", "%q is not supported: want %s, between two nodes of the file", form, links.LinkTypeVEth)
			continue
		}
		if len(link.Endpoints) != 2 {
			p.fail(field+".endpoints", "want two, such as [h1:eth1, s1:eth1]")
			continue
		}
		for e := range link.Endpoints {
			p.checkEnd(fmt.Sprintf("%s.endpoints[%d]", field, e), &link.Endpoints[e], form)
		}
	}
}

// checkEnd looks at the form of one end of a link.
func (p *parser) checkEnd(field string, end *yaml.Node, form links.LinkType) {
	if form == links.LinkTypeVEth {
		var long struct{ MAC any }
		if err := end.Decode(&long); err != nil {
			p.fail(field, "want a node and an interface, such as {node: h1, interface: eth1}")
		} else if long.MAC != nil {
			p.fail(field+".mac", "not supported: the addresses of interfaces are aqmlab's own")
		}
		return
	}
	var short string
	err := end.Decode(&short)
	node, iface, ok := strings.Cut(short, ":")
	if err != nil || !ok || node == "" || iface == "" {
		p.fail(field, "want a node and an interface, such as h1:eth1")
		return
	}
	switch outside := links.LinkType(strings.ToLower(strings.TrimSpace(node))); outside {
	case links.LinkTypeHost, links.LinkTypeMgmtNet, links.LinkTypeMacVLan:
		p.fail(field, "%q is not supported: want a node of the file", outside)
	}
}

func linkField(i int) string { return fmt.Sprintf("topology.links[%d]", i) }
