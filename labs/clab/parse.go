//go:build linux

package clab

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/srl-labs/containerlab/types"
	"gopkg.in/yaml.v2" // the one that containerlab's types decode themselves with

	"aqmlab/kind"
	"aqmlab/labs/schema"
)

// Parse reads a file of that name. What is wrong with it is told as
// [schema.Errors], all of it at once, as far as it can be understood.
func Parse(name string, data []byte) (*Topology, error) {
	if line := templateLine(data); line > 0 {
		return nil, schema.Errors{{Source: name, Line: line, Err: errors.New("{{ makes it a template, which is not supported: want the file that containerlab writes from it")}}
	}
	root, broken := schema.Mapping(name, data, schema.Content{What: "topology", Keys: "name and topology"})
	if broken != nil {
		return nil, schema.Errors{broken}
	}
	// The syntax has what containerlab's types do not keep: lines and the order of
	// nodes.
	p := &parser{name: name, lines: make(map[string]int)}
	p.index(root, "")
	p.checkLinkForms(root)
	if len(p.errs) == 0 {
		p.decode(data)
	}
	if len(p.errs) > 0 {
		return nil, p.errs.Sorted(name)
	}
	t := &Topology{Name: p.file.Name}
	p.inherit()
	p.links(t, p.nodes())
	if len(p.errs) == 0 {
		p.roles(t)
	}
	if len(p.errs) > 0 {
		return nil, p.errs.Sorted(name)
	}
	return t, nil
}

// templateLine is the first line with a template's action, or 0.
func templateLine(data []byte) int {
	i := bytes.Index(data, []byte("{{"))
	if i < 0 {
		return 0
	}
	return bytes.Count(data[:i], []byte("\n")) + 1
}

// decode reads the file with containerlab's types, which know their fields.
func (p *parser) decode(data []byte) {
	err := yaml.UnmarshalStrict(data, &p.file)
	var wrong *yaml.TypeError
	switch {
	case errors.As(err, &wrong):
		for _, text := range wrong.Errors {
			p.mistyped(text)
		}
	case err != nil:
		p.fail("", "%w", err)
	}
}

// mistyped reports what the decoder did not take, which is text that begins with
// the line.
func (p *parser) mistyped(text string) {
	line := 0
	if m := regexp.MustCompile(`^line (\d+): (?s)(.*)$`).FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits
		text = m[2]
	}
	e := &schema.Error{Source: p.name, Line: line, Key: p.leafAt(line), Err: errors.New(text)}
	if m := regexp.MustCompile(`^field (\S+) (not found|already set) in type`).FindStringSubmatch(text); m != nil {
		e.Key = p.fieldAt(line, m[1])
		if e.Err = errors.New("set twice"); m[2] == "not found" {
			e.Err = fmt.Errorf("%w field: containerlab v0.60.0 has none of that name", kind.ErrUnknown)
		}
	}
	p.errs = append(p.errs, e)
}

// fieldAt is the field of that name that stands on a line, the first of them.
func (p *parser) fieldAt(line int, name string) string {
	for _, field := range slices.Sorted(maps.Keys(p.lines)) {
		if p.lines[field] == line && (field == name || strings.HasSuffix(field, "."+name)) {
			return field
		}
	}
	return name
}

// leafAt is the field that stands on a line, or nothing when more than one does.
func (p *parser) leafAt(line int) string {
	leaf := ""
	for _, field := range slices.Sorted(maps.Keys(p.lines)) { // a field comes before those in it
		switch {
		case p.lines[field] != line:
		case !strings.HasPrefix(field, leaf):
			return ""
		default:
			leaf = field
		}
	}
	return leaf
}

// inherit gives nodes what their groups say, less what they say themselves. The
// rest of the inheritance is containerlab's.
func (p *parser) inherit() {
	t := &p.Topology
	for _, name := range p.order {
		node := t.Nodes[name]
		if node == nil {
			node = &types.NodeDefinition{}
			t.Nodes[name] = node
		}
		for _, group := range slices.Compact([]string{node.Group, t.GetDefaults().Group}) {
			if node.Kind == "" {
				node.Kind = t.Groups[group].GetKind()
			}
		}
		if labels := maps.Clone(t.Groups[t.GetNodeGroup(name)].GetLabels()); labels != nil {
			maps.Copy(labels, node.Labels)
			node.Labels = labels
		}
	}
}
