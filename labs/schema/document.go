package schema

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
)

// extendsKey names what a file starts from: another lab, or a part that several
// labs share. It is either of the book, or a file, whose name starts from the
// folder of the file that extends it.
const extendsKey = "extends"

// document is a file taken apart into its keys. The keys of an entry of a list
// stand below its name ("schemes.tcn.threshold"), so that they can be overridden;
// the order of the entries is kept beside.
type document struct {
	file    string
	root    *Schema
	schema  Schema // the same, and the keys of the entries of lists
	values  map[string]any
	lines   map[string]int
	entries map[string][]string // names, by list
	extends string              // what the file starts from; empty: nothing
	from    map[string]origin   // by key: the values that were taken from there
	errs    Errors
	broken  bool // not even a mapping: nothing more can be said
}

// origin is where a document took a value from.
type origin struct {
	*document
	dir string // that relative names in it start from
}

// parse takes a file apart. It refuses keys that the schema does not have; what
// the values mean is not looked at.
func parse(file string, data []byte, root *Schema) *document {
	d := &document{
		file: file, root: root, schema: *root, values: make(map[string]any), lines: make(map[string]int),
		entries: make(map[string][]string), from: make(map[string]origin),
	}
	top, err := Mapping(file, data, root.content)
	if err != nil {
		d.broken = true
		d.errs = Errors{err}
		return d
	}
	d.mapping(top, "")
	return d
}

// Mapping reads the one document of a file, which has keys.
func Mapping(file string, data []byte, want Content) (*yaml.Node, *Error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, &Error{Source: file, Err: fmt.Errorf("empty: want keys such as %s", want.Keys)}
	} else if err != nil {
		return nil, syntax(file, err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, syntax(file, fmt.Errorf("yaml: line %d: a second document: want one %s a file", second.Line, want.What))
	} else if !errors.Is(err, io.EOF) {
		return nil, syntax(file, err)
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, &Error{Source: file, Line: top.Line, Err: fmt.Errorf("not a %s: want keys such as %s", want.What, want.Keys)}
	}
	return top, nil
}

// syntax is an error of the YAML reader, whose text holds the line: counted
// from 0, and left out when it is 0, where its parser complains, and from 1 where
// its scanner does.
func syntax(file string, err error) *Error {
	fromParser := regexp.MustCompile(`^did not find expected (',' or|key|'-' indicator|node content|<)`)
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s).*)$`).FindStringSubmatch(err.Error())
	if m == nil {
		return &Error{Source: file, Err: err}
	}
	line, _ := strconv.Atoi(m[1]) // no line: 0
	if fromParser.MatchString(m[2]) {
		line++
	}
	return &Error{Source: file, Line: line, Err: fmt.Errorf("not YAML: %s", m[2])}
}

func (d *document) fail(line int, path, format string, args ...any) {
	d.errs = append(d.errs, &Error{Source: d.file, Line: line, Key: path, Err: fmt.Errorf(format, args...)})
}

// pairs goes through the keys and values of a mapping.
func pairs(node *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(*yaml.Node, *yaml.Node) bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i], node.Content[i+1]) {
				return
			}
		}
	}
}

// mapping takes the keys below prefix.
func (d *document) mapping(node *yaml.Node, prefix string) {
	for name, value := range pairs(node) {
		path := join(prefix, name.Value)
		if !d.admit(name, value, prefix) {
			continue
		}
		short := d.schema.short(path)
		list, isList := d.schema.list(path)
		switch {
		case path == extendsKey:
			d.extension(value)
		case isList:
			d.list(list, value)
		case !d.schema.isSection(path):
			d.leaf(path, value)
		case value.Kind == yaml.MappingNode:
			d.mapping(value, path)
		case short != nil && value.Kind == yaml.ScalarNode:
			d.lines[short[0]] = value.Line
			d.leaf(short[0], value)
		default:
			d.fail(value.Line, path, "not a mapping: want keys such as %s", d.schema.below(path)[0])
		}
	}
}

// admit tells whether a key below prefix is one of a lab, new, and has a value.
// It notes its line.
func (d *document) admit(name, value *yaml.Node, prefix string) bool {
	path := join(prefix, name.Value)
	_, isList := d.schema.list(path)
	known := path == extendsKey || isList || d.schema.hasValue(path) || d.schema.isSection(path)
	switch first, dup := d.lines[path]; {
	case name.Kind != yaml.ScalarNode:
		d.fail(name.Line, prefix, "a key is not a name")
	case !isWord(name.Value) || !known:
		d.fail(name.Line, path, "%w", kind.Unknown("key", name.Value, d.schema.below(prefix)))
	case dup:
		d.fail(name.Line, path, "already set on line %d", first)
	case empty(value):
		d.lines[path] = name.Line
		d.fail(name.Line, path, "has no value")
	default:
		d.lines[path] = name.Line
		return true
	}
	return false
}

// isWord tells whether a key may be that of a parameter.
func isWord(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyz"
	return s != "" && strings.Contains(letters, s[:1]) && strings.Trim(s, letters+"0123456789_") == ""
}

func empty(value *yaml.Node) bool {
	return value.Tag == "!!null" || value.Kind == yaml.MappingNode && len(value.Content) == 0
}

// leaf takes a value or a list of values.
func (d *document) leaf(path string, value *yaml.Node) {
	if aliased(value) {
		d.fail(value.Line, path, "an alias: want the value written out")
		return
	}
	if value.Kind == yaml.MappingNode && d.schema.isMapping(path) {
		d.names(path, value)
		return
	}
	if value.Kind == yaml.MappingNode {
		d.fail(value.Line, path, "a mapping: want a value")
		return
	}
	var v any
	if err := value.Decode(&v); err != nil {
		d.fail(value.Line, path, "%w", err)
		return
	}
	d.values[path] = v
	for i, item := range value.Content {
		d.lines[fmt.Sprintf("%s[%d]", path, i)] = item.Line
	}
}

// names takes a mapping of names to names, which are whatever its reader knows. It keeps
// them as a list, as an override has them: the configuration reader folds the keys of
// mappings.
func (d *document) names(path string, value *yaml.Node) {
	var all []any
	for name, to := range pairs(value) {
		at := join(path, name.Value)
		switch first, dup := d.lines[at]; {
		case name.Kind != yaml.ScalarNode || name.Value == "" || to.Kind != yaml.ScalarNode || to.Tag == "!!null":
			d.fail(name.Line, path, "not a mapping of names to names, such as {a: b}")
		case dup:
			d.fail(name.Line, at, "already set on line %d", first)
		default:
			d.lines[at] = name.Line
			all = append(all, name.Value+"="+to.Value)
		}
	}
	d.values[path] = all
}

// aliased tells whether a value refers to another, possibly to itself.
func aliased(value *yaml.Node) bool {
	return value.Kind == yaml.AliasNode || slices.ContainsFunc(value.Content, aliased)
}

// list takes a list apart by the names of its entries.
func (d *document) list(list List, value *yaml.Node) {
	what, example := list.Tag.Get("what"), list.Tag.Get("example")
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		d.fail(value.Line, list.Path, "not a list of %ss: want at least one %s", what, example)
		return
	}
	for i, item := range value.Content {
		path := fmt.Sprintf("%s[%d]", list.Path, i)
		if item.Kind != yaml.MappingNode {
			d.fail(item.Line, path, "not a %s: want one such as %s", what, example)
			continue
		}
		name, rest, ok := strconv.Itoa(i), item, true
		if list.named() {
			name, rest, ok = d.entry(list, item, path)
		}
		if !ok {
			continue
		}
		at := join(list.Path, name)
		d.entries[list.Path] = append(d.entries[list.Path], name)
		d.lines[at] = item.Line
		d.schema = d.schema.with(list, name)
		d.mapping(rest, at)
	}
}

// entry splits an entry of a list into its name and its other keys, which stand
// below the path of the name. It refuses a name that is there twice.
func (d *document) entry(list List, item *yaml.Node, path string) (name string, rest *yaml.Node, ok bool) {
	for key, value := range pairs(item) {
		if key.Value != nameKey {
			continue
		}
		if err := checkName(value.Value); err != nil {
			d.fail(value.Line, path+".name", "%w", err)
			return "", nil, false
		}
		if first, dup := d.lines[join(list.Path, value.Value)]; dup {
			d.fail(value.Line, path+".name", "%q is the name of the one on line %d, too", value.Value, first)
			return "", nil, false
		}
		others := *item
		i := slices.Index(item.Content, key)
		others.Content = slices.Delete(slices.Clone(item.Content), i, i+2)
		return value.Value, &others, true
	}
	d.fail(item.Line, path+".name", "missing: want a name such as %s", list.exampleName())
	return "", nil, false
}

// extension takes the name of what the file starts from.
func (d *document) extension(value *yaml.Node) {
	if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
		d.fail(value.Line, extendsKey, "not a name: want a lab of the book, a part of one, or a file")
		return
	}
	d.extends = value.Value
}
