package labs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
)

// YAML writes the lab as a file that loads to an equal lab, with every default
// written out. It is what is stored with results.
func (l *Lab) YAML() ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	if err := l.fill(root); err != nil {
		return nil, fmt.Errorf("writing lab %s: %w", l.Name, err)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, fmt.Errorf("writing lab %s: %w", l.Name, err)
	}
	return b.Bytes(), nil
}

// Hash is eight hexadecimal digits, the same for equal labs. The lab is one
// that was loaded: its parameters can be written.
func (l *Lab) Hash() string {
	b, err := l.YAML()
	if err != nil {
		panic(fmt.Sprintf("a loaded lab that cannot be written: %v", err))
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:4])
}

func (l *Lab) fill(root *yaml.Node) error {
	for _, k := range keysOf(l) {
		if err := put(root, k.path, k.write()); err != nil {
			return err
		}
	}
	choices := map[string]kind.Choice{
		topologyPath:     {Kind: l.Topology.Kind, Params: l.Topology.Params},
		distributionPath: l.RTT.Distribution,
		transportPath:    {Kind: l.Host.Transport, Params: l.Host.TransportParams},
		schedulerPath:    l.Switch.Scheduler,
		arrivalPath:      l.Workload.Arrival,
		sizesPath:        l.Workload.Sizes,
	}
	for _, c := range fixedChoices(l.Kinds) {
		if c.path == innerPath {
			continue // a parameter of the scheduler above
		}
		if err := putChoice(root, c, choices[c.path]); err != nil {
			return err
		}
	}
	if err := l.putBackground(root); err != nil {
		return err
	}
	list := child(root, schemesKey, yaml.SequenceNode)
	for _, s := range l.Schemes {
		entry := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		list.Content = append(list.Content, entry)
		if err := put(entry, "name", s.Name); err != nil {
			return err
		}
		if err := putChoice(entry, choice{kindKey: schemeChoice(s.Name, l.Kinds).kindKey}, s.AQM); err != nil {
			return err
		}
		if s.Ingress.Kind == "" {
			continue
		}
		if err := putChoice(entry, choice{path: "ingress", kindKey: ingressChoice(s.Name).kindKey}, s.Ingress); err != nil {
			return err
		}
	}
	return nil
}

// putChoice writes a kind and its parameters below the choice's path.
func putChoice(root *yaml.Node, c choice, ch kind.Choice) error {
	if err := put(root, join(c.path, c.kindKey), ch.Kind); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(ch.Params)) {
		if err := put(root, join(c.path, name), ch.Params[name]); err != nil {
			return err
		}
	}
	return nil
}

// put writes a value at a path, making the mappings that lead there. It leaves
// out nil.
func put(root *yaml.Node, path string, value any) error {
	if value == nil {
		return nil
	}
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		root = child(root, name, yaml.MappingNode)
	}
	node := child(root, names[len(names)-1], yaml.ScalarNode)
	if err := node.Encode(value); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	return nil
}

// child finds the value of a key in a mapping, or adds one of that kind.
func child(mapping *yaml.Node, name string, k yaml.Kind) *yaml.Node {
	for key, value := range pairs(mapping) {
		if key.Value == name {
			return value
		}
	}
	value := &yaml.Node{Kind: k}
	mapping.Content = append(mapping.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	return value
}
