package schema

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"aqmlab/kind"
)

// object is a JSON Schema, or a part of one.
type object = map[string]any

// JSON is the JSON Schema (draft 2020-12) of files, which editors take for
// completion and checks. It sees each key and choice by itself: what depends on
// several keys it lets pass, and so it does bounds of quantities.
func (s *Schema) JSON() map[string]any {
	root := s.object()
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	properties(root)[extendsKey] = object{"type": "string", "description": "what the file starts from: a lab of the book, a part of one, or a file"}
	for _, l := range s.Lists {
		item := l.Item.object()
		required := []string{}
		for _, k := range l.Item.Keys {
			if k.Path == nameKey || k.Tag.Get("required") != "" {
				required = append(required, k.Path)
			}
		}
		for _, c := range l.Item.Choices {
			if c.Path == "" && c.Default == "" {
				required = append(required, c.KindKey)
			}
		}
		item["required"] = required
		list := object{"type": "array", "minItems": 1, "items": item}
		properties(root)[l.Path] = described(list, l.Doc)
	}
	return root
}

func described(s object, doc string) object {
	if text, ok := (kind.Param{Doc: doc}).JSONSchema()["description"]; ok {
		s["description"] = text
	}
	return s
}

func properties(s object) object { return s["properties"].(object) }

func emptyObject() object {
	return object{"type": "object", "properties": object{}, "additionalProperties": false, "minProperties": 1}
}

// object is the mapping of the schema's keys and choices.
func (s *Schema) object() object {
	sections := map[string]object{"": emptyObject()}
	for _, k := range s.Keys {
		parent, name, _ := cutLast(k.Path)
		properties(section(sections, parent))[name] = k.json()
	}
	choices := slices.DeleteFunc(slices.Clone(s.Choices), func(c Choice) bool { return c.name == nil }) // parameters of those around them
	for _, c := range choices {
		section(sections, c.Path)
	}
	for _, c := range choices {
		c.json(sections[c.Path])
	}
	// A bare value may stand in place of some mappings.
	for _, path := range slices.Sorted(maps.Keys(sections)) {
		if keys := s.short(path); keys != nil && path != "" {
			parent, name, _ := cutLast(path)
			_, key, _ := cutLast(keys[0])
			bare := properties(sections[path])[key]
			properties(sections[parent])[name] = object{"anyOf": []any{bare, sections[path]}}
		}
	}
	return sections[""]
}

// section is the mapping at a path, which is made if need be.
func section(sections map[string]object, path string) object {
	if s, ok := sections[path]; ok {
		return s
	}
	parent, name, _ := cutLast(path)
	sections[path] = emptyObject()
	properties(section(sections, parent))[name] = sections[path]
	return sections[path]
}

// json is the schema of the key's values.
func (k Key) json() object {
	p := k.Param
	p.Type = strings.TrimPrefix(kind.TypeName(k.Go), "list of ") // a form has a type of its own
	plain := p.JSONSchema()
	if k.Go.Kind() == reflect.Slice {
		list := object{"type": "array", "items": plain, "minItems": 1}
		if k.Tag.Get("distinct") != "" {
			list["uniqueItems"] = true
		}
		plain = object{"anyOf": []any{plain, list}}
	}
	if k.Form != nil && k.Form.JSON != nil {
		plain = k.Form.JSON(plain)
	}
	return described(plain, k.Doc)
}

// json adds the kind and the parameters of the choice to the mapping that has
// them. Where the kind is named, the parameters are its own.
func (c Choice) json(mapping object) {
	names := make([]string, len(c.Rows))
	params := map[string][]any{} // the schemas of a name, which several kinds may give
	own := slices.Collect(maps.Keys(properties(mapping)))
	var rows []any
	for i, row := range c.Rows {
		names[i] = row.Name
		mine, allowed := object{}, append(slices.Clone(own), c.KindKey)
		for _, p := range row.Params {
			mine[p.Name], allowed = c.param(p), append(allowed, p.Name)
			if !slices.ContainsFunc(params[p.Name], func(known any) bool { return reflect.DeepEqual(known, mine[p.Name]) }) {
				params[p.Name] = append(params[p.Name], mine[p.Name])
			}
		}
		slices.Sort(allowed)
		rows = append(rows, object{
			"if":   object{"properties": object{c.KindKey: object{"const": row.Name}}, "required": []string{c.KindKey}},
			"then": object{"properties": mine, "propertyNames": object{"enum": slices.Compact(allowed)}},
		})
	}
	for name, schemas := range params {
		properties(mapping)[name] = object{"anyOf": schemas}
	}
	properties(mapping)[c.KindKey] = described(object{"enum": names}, c.Doc)
	mapping["allOf"] = rows
}

// param is the schema of a parameter, which may be a choice itself.
func (c Choice) param(p kind.Param) object {
	for _, inner := range c.inner {
		if _, name, _ := cutLast(inner.Path); name == p.Name {
			mapping := emptyObject()
			inner.inner = nil
			inner.json(mapping)
			delete(properties(mapping), p.Name)
			return described(object{"anyOf": []any{properties(mapping)[inner.KindKey], mapping}}, p.Doc)
		}
	}
	return p.JSONSchema()
}
