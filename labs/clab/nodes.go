//go:build linux

package clab

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
)

// nodes checks the nodes, and answers the place of each.
func (p *parser) nodes() map[string]int {
	if len(p.Topology.Nodes) == 0 {
		p.fail("topology.nodes", "missing: want at least two hosts and a switch")
	}
	merged := maps.Clone(p.Topology.Nodes) // what came by a merge key has no place in the order
	for _, name := range p.order {
		delete(merged, name)
	}
	p.order = append(p.order, slices.Sorted(maps.Keys(merged))...)
	// What namespaces, interfaces and host names all allow: IFNAMSIZ less the
	// final zero, and none of the kernel's own names among sysctls.
	valid := regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,14}$`)
	places := make(map[string]int, len(p.order))
	for i, name := range p.order {
		places[name] = i
		field := nodeField(name)
		if !valid.MatchString(name) || slices.Contains([]string{"lo", "all", "default"}, name) {
			p.fail(field, "%q is not supported as the name of a node: want 1 to 15 letters, digits and hyphens, no hyphen first, and not lo, all or default", name)
		}
		if k := p.kind(name); slices.Contains([]string{"host", "ext-container", "k8s-kind", "border0"}, k) {
			p.fail(p.set(name, "kind"), "%q is not supported: want %s, or the kind of a switch or bridge", k, linux)
		}
		p.checkNodeLabels(name)
	}
	return places
}

func nodeField(name string) string { return "topology.nodes." + name }

// kind is the kind of a node, in small letters, as containerlab takes it. A file
// that names none means plain containers.
func (p *parser) kind(name string) string {
	if k := strings.ToLower(p.Topology.GetNodeKind(name)); k != "" {
		return k
	}
	return linux
}

// set is where a field of a node is set: at the node, its group, its kind, or
// the defaults, the first that has it. Without any it is the node itself.
func (p *parser) set(name, field string) string {
	for _, level := range []string{
		nodeField(name),
		"topology.groups." + p.Topology.GetNodeGroup(name),
		"topology.kinds." + p.Topology.GetNodeKind(name),
		"topology.defaults",
	} {
		if _, there := p.lines[level+"."+field]; there {
			return level + "." + field
		}
	}
	return nodeField(name)
}

// checkNodeLabels refuses labels that look like ours and are not.
func (p *parser) checkNodeLabels(name string) {
	labels := p.Topology.GetNodeLabels(name)
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		value := labels[label]
		switch field := p.set(name, "labels."+label); {
		case !strings.HasPrefix(label, mine):
		case label != roleLabel:
			p.fail(field, "%w", kind.Unknown("label", label, []string{roleLabel}))
		case value != roleSwitch && value != roleHost:
			p.fail(field, "%w", kind.Unknown("role", value, []string{roleHost, roleSwitch}))
		}
	}
}

// roles tells switches from hosts. A label has the last word; otherwise all that
// is no plain container is a switch, and so is a plain container with more than
// one link.
func (p *parser) roles(t *Topology) {
	degree := make([]int, len(p.order))
	for _, l := range t.Links {
		degree[l.A.Node]++
		degree[l.B.Node]++
	}
	hosts := 0
	for i, name := range p.order {
		n := Node{Name: name, Switch: p.kind(name) != linux || degree[i] > 1}
		if role, said := p.Topology.GetNodeLabels(name)[roleLabel]; said {
			n.Switch = role == roleSwitch
		}
		t.Nodes = append(t.Nodes, n)
		switch {
		case degree[i] == 0:
			p.fail(nodeField(name), "no link leads to it")
		case !n.Switch:
			hosts++
			if degree[i] > 1 {
				p.fail(p.set(name, "labels."+roleLabel), "host %s has %d links: want one", name, degree[i])
			}
			p.checkHost(name)
		}
	}
	for i, l := range t.Links {
		if a, b := t.Nodes[l.A.Node], t.Nodes[l.B.Node]; !a.Switch && !b.Switch {
			p.fail(linkField(i)+".endpoints", "%s and %s are hosts: want a switch between them", a.Name, b.Name)
		}
	}
	if hosts < 2 {
		p.fail("topology.nodes", "%d of %d nodes are hosts: want two or more plain containers with one link, or label them %s: %s", hosts, len(p.order), roleLabel, roleHost)
	}
}

// checkHost refuses what a lab says of its hosts and containerlab of a
// container, so that neither is taken for the other.
func (p *parser) checkHost(name string) {
	for _, f := range []struct{ field, instead string }{
		{"sysctls", "the lab's section host says how hosts are set up"},
		{"cpu", "want the lab's host.cpus"},
		{"cpu-set", "want the lab's host.cpus"},
		{"memory", "want the lab's host.memory"},
		{"network-mode", "a host has a network of its own"},
	} {
		field := p.set(name, f.field)
		told := slices.ContainsFunc(p.errs, func(e *schema.Error) bool { return e.Key == field })
		if field != nodeField(name) && !told {
			p.fail(field, "not supported for a host: %s", f.instead)
		}
	}
}
