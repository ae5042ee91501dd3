package kind

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// JSONSchema is what a JSON Schema (draft 2020-12) says of the values of the
// parameter. It has no bounds of quantities, which are text there.
func (p Param) JSONSchema() map[string]any {
	s := p.values(p.Type)
	// Links are for documentation.
	if doc := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(p.Doc, "$1"); doc != "" {
		s["description"] = doc
	}
	switch number := strings.HasSuffix(p.Type, "number"); { // of a list: one of it
	case p.Default == "" || strings.HasPrefix(p.Default, "["):
	case number && json.Valid([]byte(p.Default)):
		s["default"] = json.Number(p.Default)
	case p.Type == "true or false":
		s["default"] = p.Default == "true"
	default:
		s["default"] = p.Default
	}
	return s
}

// values is the schema of the values of a type.
func (p Param) values(name string) map[string]any {
	if of, isList := strings.CutPrefix(name, "list of "); isList {
		return map[string]any{"type": "array", "items": p.values(of)}
	}
	switch name {
	case "time":
		return pattern(`^\s*[-+]?([0-9.]+\s*(ns|us|µs|μs|ms|s|m|h))+\s*$`)
	case "rate":
		return pattern(`^\s*[0-9.eE+-]+\s*[KMGT]?bps\s*$`)
	case "size":
		return pattern(`^\s*[0-9.eE+-]+\s*([KMGT]i?)?B\s*$`)
	case "true or false":
		return map[string]any{"type": "boolean"}
	case "mapping":
		return map[string]any{"type": "object"}
	case "number":
		return p.limited("number")
	case "whole number":
		return p.limited("integer")
	}
	if p.OneOf != nil {
		return map[string]any{"enum": slices.Clone(p.OneOf)}
	}
	return pattern(`^[^\x00-\x1f]*$`) // of one line
}

func pattern(p string) map[string]any { return map[string]any{"type": "string", "pattern": p} }

// limited is the schema of numbers in the range.
func (p Param) limited(name string) map[string]any {
	s := map[string]any{"type": name}
	if p.Range == "" {
		return s
	}
	b := Field{Param: p}.bounds()
	low, high := "minimum", "maximum"
	if b.aboveLow {
		low = "exclusiveMinimum"
	}
	if b.belowHigh {
		high = "exclusiveMaximum"
	}
	s[low], s[high] = json.Number(b.low), json.Number(b.high)
	return s
}
