package schema

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
)

// Encode writes the struct as a file, with every default written out. It asks
// written what stands for a value there; nil leaves the key out.
func (s *Schema) Encode(from any, written func(path string, value any) any) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	v := reflect.ValueOf(from).Elem()
	if err := s.encode(root, "", v, written); err != nil {
		return nil, err
	}
	// Their order is alphabetical, whatever that of the fields.
	lists := slices.SortedFunc(slices.Values(s.Lists), func(a, b List) int { return strings.Compare(a.Path, b.Path) })
	for _, list := range lists {
		entries := v.FieldByIndex(list.index)
		for i := range entries.Len() {
			node := child(root, list.Path, yaml.SequenceNode)
			entry := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
			node.Content = append(node.Content, entry)
			if err := list.Item.encode(entry, list.Path, entries.Index(i), written); err != nil {
				return nil, err
			}
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// encode writes the keys of a struct, which stands at a path of the whole file,
// and then its choices.
func (s *Schema) encode(root *yaml.Node, at string, v reflect.Value, written func(string, any) any) error {
	for _, k := range s.Keys {
		value := k.encode(v.FieldByIndex(k.index))
		if value != nil {
			value = written(join(at, k.Path), value)
		}
		if err := put(root, k.Path, value); err != nil {
			return err
		}
	}
	for _, c := range s.Choices {
		if c.name == nil || v.FieldByIndex(c.name).String() == "" {
			continue // a parameter of the choice around it, or nothing chosen
		}
		if err := put(root, c.KindPath(), v.FieldByIndex(c.name).String()); err != nil {
			return err
		}
		params := v.FieldByIndex(c.params).Interface().(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(params)) {
			if err := put(root, join(c.Path, name), params[name]); err != nil {
				return err
			}
		}
	}
	return nil
}

// encode is the field of the key as a file has it, or nil where it is left out.
func (k Key) encode(v reflect.Value) any {
	write := k.Tag.Get("write")
	if write == "set" && v.IsZero() || write == "changed" && k.IsDefault(v) {
		return nil
	}
	if k.Form != nil && k.Form.Write != nil {
		return k.Form.Write(v.Interface())
	}
	return kind.Encode(v)
}

// Of is the key's value in the struct that from points at.
func (k Key) Of(from any) reflect.Value { return reflect.ValueOf(from).Elem().FieldByIndex(k.index) }

// IsDefault tells whether a value is the default of the key.
func (k Key) IsDefault(v reflect.Value) bool {
	return reflect.DeepEqual(k.standard().Interface(), v.Interface())
}

// standard is the default of the key.
func (k Key) standard() reflect.Value {
	v := reflect.New(k.Go).Elem()
	if k.Default != "" {
		if err := k.read(kind.Text(k.Default), v); err != nil {
			panic(fmt.Sprintf("the default of %s: %v", k.Path, err))
		}
	}
	return v
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
