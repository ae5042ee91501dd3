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
	return slices.Contains([]string{"name", "title", "baseline", "dilation", "seeds", "workload.load"}, key) || strings.HasPrefix(key, "source.")
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

// UnlikeKeys lists the keys in which labs differ, leaving out those of schemes
// that not all of them have.
func UnlikeKeys(labs []LabKeys) []string {
	var unlike []string
	for _, l := range labs {
		for _, key := range l.names {
			scheme := SchemeOf(key)
			shared := scheme == "" || !slices.ContainsFunc(labs, func(o LabKeys) bool { return !o.has(scheme) })
			differs := slices.ContainsFunc(labs, func(o LabKeys) bool { return o.Values[key] != l.Values[key] })
			if differs && shared && !told(key) && !slices.Contains(unlike, key) {
				unlike = append(unlike, key)
			}
		}
	}
	return unlike
}

// field is something that manifests hold and in which runs may differ.
type field struct {
	Name    string
	Value   func(results.Manifest) string
	Matters bool // points that differ in it are not of one run
}

func Fields() []field {
	return []field{
		{"aqmlab version", func(m results.Manifest) string { return m.Version }, true},
		{"git revision", func(m results.Manifest) string { return m.GitRevision }, true},
		{"lab", func(m results.Manifest) string { return m.Lab }, true},
		{"runtime", func(m results.Manifest) string { return m.Runtime }, true},
		{"dilation", func(m results.Manifest) string { return fmt.Sprint(m.Dilation) }, false},
		{"kernel", func(m results.Manifest) string { return m.Host.Kernel }, false}, // see unlike
		{"cpu", func(m results.Manifest) string { return m.Host.CPU }, false},
		{"cores", func(m results.Manifest) string { return fmt.Sprint(m.Host.Cores) }, false},
		{"transport", func(m results.Manifest) string { return m.Transport.Name }, true},
		{"transport provider", func(m results.Manifest) string { return m.Transport.Provider }, true},
		{"rtt by", func(m results.Manifest) string { return m.RTTBy }, true},
		{"schemes", func(m results.Manifest) string { return results.Join(m.Schemes) }, false},
		{"loads", func(m results.Manifest) string { return results.Join(m.Loads) }, false},
		{"seeds", func(m results.Manifest) string { return results.Join(m.Seeds) }, false},
	}
}
