package store

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/results"
)

// schemesPrefix begins the keys of schemes: schemes.NAME.KEY.
const schemesPrefix = "schemes."

// LabKeys are the keys of a stored lab and their values as text, in the order of
// the file. Entries of a list that have names are known by these. A file that is
// no YAML has none.
type LabKeys struct {
	names  []string
	Values map[string]string
}

func LabKeysOf(text []byte) LabKeys {
	k := LabKeys{Values: make(map[string]string)}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err == nil && root.Kind == yaml.DocumentNode {
		k.walk("", root.Content[0])
	}
	return k
}

func (k *LabKeys) walk(path string, n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k.walk(strings.TrimPrefix(path+"."+n.Content[i].Value, "."), n.Content[i+1])
		}
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0 && nameIn(n.Content[0]) != "":
		for _, entry := range n.Content {
			k.walk(path+"."+nameIn(entry), entry)
		}
	default:
		k.names = append(k.names, path)
		k.Values[path] = textOf(n)
	}
}

// nameIn is the name that an entry of a list has.
func nameIn(n *yaml.Node) string {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			return n.Content[i+1].Value
		}
	}
	return ""
}

// textOf is a value on one line.
func textOf(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var parts []string
	for _, c := range n.Content {
		parts = append(parts, textOf(c))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// told lists keys that say nothing of how a point was measured, or that a
// manifest tells better.
func told(key string) bool {
	return slices.Contains([]string{"name", "title", "baseline", "dilation", "seeds", "workload.load", "host.kernel"}, key) || strings.HasPrefix(key, "source.")
}

// has tells whether a lab has a scheme.
func (k LabKeys) has(scheme string) bool {
	return slices.ContainsFunc(k.names, func(key string) bool { return strings.HasPrefix(key, schemesPrefix+scheme+".") })
}

// SchemeOf is the scheme that a key belongs to, or "".
func SchemeOf(key string) string {
	rest, ok := strings.CutPrefix(key, schemesPrefix)
	if !ok {
		return ""
	}
	scheme, _, _ := strings.Cut(rest, ".")
	return scheme
}

// Setting is something that says how runs were made, and in which they differ: a
// field of their manifests, or a key of their labs.
type Setting struct {
	Name    string
	Key     string   // of the labs; empty for a field of manifests
	Values  []string // by run; empty for a key that a lab does not have
	Matters bool     // points that differ in it are not of one run
}

// Settings lists those in which runs differ, the fields of manifests first.
func Settings(runs []*Run) (all []Setting) {
	labs := make([]LabKeys, len(runs))
	for i, r := range runs {
		labs[i] = LabKeysOf(r.LabYAML)
		if fields := fieldsOf(r.Manifest); i == 0 {
			all = fields
		} else {
			for at, f := range fields {
				all[at].Values = append(all[at].Values, f.Values...)
			}
		}
	}
	for _, l := range labs {
		for _, key := range l.names {
			if slices.ContainsFunc(all, func(s Setting) bool { return s.Key == key }) {
				continue
			}
			scheme := SchemeOf(key)
			lacks := func(o LabKeys) bool { return scheme != "" && !o.has(scheme) }
			s := Setting{Name: "lab key " + key, Key: key, Matters: !told(key) && !slices.ContainsFunc(labs, lacks)}
			for _, o := range labs {
				s.Values = append(s.Values, o.Values[key])
			}
			all = append(all, s)
		}
	}
	return slices.DeleteFunc(all, func(s Setting) bool {
		return !slices.ContainsFunc(s.Values, func(v string) bool { return v != s.Values[0] })
	})
}

func fieldsOf(m results.Manifest) []Setting {
	guest, own := m.Host.Kernels()
	field := func(name string, value any, matters bool) Setting {
		return Setting{Name: name, Values: []string{fmt.Sprint(value)}, Matters: matters}
	}
	return []Setting{
		field("aqmlab version", m.Version, true),
		field("git revision", m.GitRevision, true),
		field("lab", m.Lab, true),
		field("runtime", m.Runtime, true),
		field("dilation", m.Dilation, false),
		field("guest kernel", guest, true),
		field("kernel", own, false), // matters only where the hosts have it
		field("cpu", m.Host.CPU, false),
		field("cores", m.Host.Cores, false),
		field("transport", m.Transport.Name, true),
		field("transport provider", m.Transport.Provider, true),
		field("transports", results.Join(m.Transports), true),
		field("rootless", m.Rootless, false),
		field("rtt by", m.RTTBy, true),
		field("schemes", results.Join(m.Schemes), false),
		field("loads", results.Join(m.Loads), false),
		field("seeds", results.Join(m.Seeds), false),
	}
}
