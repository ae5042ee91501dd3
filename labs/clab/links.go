//go:build linux

package clab

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/srl-labs/containerlab/links"

	"aqmlab/kind"
)

// links reads the links between nodes of these places.
func (p *parser) links(t *Topology, places map[string]int) {
	if len(p.Topology.Links) == 0 {
		p.fail("topology.links", "missing: want hosts linked to switches")
	}
	taken := make(map[End]int)
	for i, def := range p.Topology.Links {
		raw, ok := def.Link.(*links.LinkVEthRaw)
		if !ok {
			p.fail(linkField(i), "not a link between two nodes") // the form was checked: it is one
			continue
		}
		if raw.MTU != 0 && raw.MTU != links.DefaultLinkMTU {
			p.fail(linkField(i)+".mtu", "not supported: want the lab's host.mtu")
		}
		l := Link{Traits: p.traits(linkField(i)+".labels.", raw.Labels)}
		known := true
		for e, end := range []*End{&l.A, &l.B} {
			field := fmt.Sprintf("%s.endpoints[%d]", linkField(i), e)
			if *end, ok = p.end(field, raw.Endpoints[e], places); !ok {
				known = false
				continue
			}
			if first, dup := taken[*end]; dup {
				p.fail(field, "interface %s of %s is an end of %s, too", end.Interface, p.order[end.Node], linkField(first))
			}
			taken[*end] = i
		}
		if known && l.A.Node == l.B.Node && l.A != l.B {
			p.fail(linkField(i)+".endpoints", "%s is linked to itself", p.order[l.A.Node])
		}
		t.Links = append(t.Links, l)
	}
}

// end finds the node of one end of a link.
func (p *parser) end(field string, raw *links.EndpointRaw, places map[string]int) (End, bool) {
	if raw.Node == "" || raw.Iface == "" {
		p.fail(field, "want a node and an interface, such as {node: h1, interface: eth1}")
		return End{}, false
	}
	place, ok := places[raw.Node]
	if !ok {
		p.fail(field, "%w", kind.Unknown("node", raw.Node, p.order))
	}
	return End{place, raw.Iface}, ok
}

// traits reads what the labels of a link say of it. Labels of others are no
// business of ours.
func (p *parser) traits(prefix string, labels map[string]string) Traits {
	var t Traits
	v, known := reflect.ValueOf(&t).Elem(), make(map[string]kind.Field)
	for _, f := range kind.Fields(reflect.TypeFor[Traits]()) {
		known[mine+f.Name] = f
	}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if !strings.HasPrefix(label, mine) {
			continue
		}
		f, ok := known[label]
		if !ok {
			p.fail(prefix+label, "%w", kind.Unknown("label", label, slices.Sorted(maps.Keys(known))))
			continue
		}
		if err := f.Decode(labels[label], v.Field(f.Index)); err != nil {
			p.fail(prefix+label, "%w", err)
		}
	}
	return t
}
