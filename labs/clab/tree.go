package clab

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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

// tree reads the file's syntax, for what containerlab's types do not keep: lines
// and the order of nodes.
func (p *parser) tree(data []byte) *yaml.Node {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		p.fail("", "empty: want a topology with nodes and links")
		return nil
	} else if err != nil {
		p.fail("", "not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		return nil
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		p.fail("", "more than one document: want one topology a file")
		return nil
	}
	if root := doc.Content[0]; root.Kind == yaml.MappingNode {
		return root
	}
	p.fail("", "not a topology: want keys such as name and topology")
	return nil
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

// find is the value below a mapping, or nil.
func find(node *yaml.Node, name string) *yaml.Node {
	if node = target(node); node == nil || node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return target(node.Content[i+1])
		}
	}
	return nil
}

// target is what an alias stands for.
func target(node *yaml.Node) *yaml.Node {
	if node != nil && node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

// checkLinkForms looks at what containerlab's types refuse without saying where:
// the type of links and the form of their ends.
func (p *parser) checkLinkForms(root *yaml.Node) {
	all := find(find(root, "topology"), "links")
	if all == nil {
		return
	}
	for i, link := range all.Content {
		field := linkField(i)
		form := links.LinkTypeBrief
		if typed := find(link, "type"); typed != nil {
			form = links.LinkType(strings.ToLower(strings.TrimSpace(typed.Value)))
		}
		if form != links.LinkTypeBrief && form != links.LinkTypeVEth {
			p.fail(field+".type", "%q is not supported: want %s, between two nodes of the file", form, links.LinkTypeVEth)
			continue
		}
		ends := find(link, "endpoints")
		if ends == nil || ends.Kind != yaml.SequenceNode || len(ends.Content) != 2 {
			p.fail(field+".endpoints", "want two, such as [h1:eth1, s1:eth1]")
			continue
		}
		for e, end := range ends.Content {
			p.checkEnd(fmt.Sprintf("%s.endpoints[%d]", field, e), target(end), form)
		}
	}
}

// checkEnd looks at the form of one end of a link.
func (p *parser) checkEnd(field string, end *yaml.Node, form links.LinkType) {
	if form == links.LinkTypeVEth {
		if end.Kind != yaml.MappingNode {
			p.fail(field, "want a node and an interface, such as {node: h1, interface: eth1}")
		} else if mac := find(end, "mac"); mac != nil {
			p.fail(field+".mac", "not supported: the addresses of interfaces are aqmlab's own")
		}
		return
	}
	node, iface, ok := strings.Cut(end.Value, ":")
	if end.Kind != yaml.ScalarNode || !ok || node == "" || iface == "" {
		p.fail(field, "want a node and an interface, such as h1:eth1")
		return
	}
	switch outside := links.LinkType(strings.ToLower(strings.TrimSpace(node))); outside {
	case links.LinkTypeHost, links.LinkTypeMgmtNet, links.LinkTypeMacVLan:
		p.fail(field, "%q is not supported: want a node of the file", outside)
	}
}

func linkField(i int) string { return fmt.Sprintf("topology.links[%d]", i) }
