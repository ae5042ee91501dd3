package labs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
	"aqmlab/switch/port"
)

// document is a lab file taken apart into its keys. A scheme's keys stand below
// its name ("schemes.tcn.threshold"), so that they can be overridden; the order
// of the schemes is kept beside.
type document struct {
	file    string
	form    form // grows by the schemes
	values  map[string]any
	lines   map[string]int
	schemes []string
	// backgrounds are the names of the background, in order.
	backgrounds []string
	extends     string            // what the file starts from; empty: nothing
	from        map[string]origin // by key: the values that were taken from there
	errs        Errors
	broken      bool // not even a mapping: nothing more can be said
}

// parse takes a file apart. It refuses keys that no lab of those kinds has; what
// the values mean is not looked at.
func parse(file string, data []byte, kinds port.Kinds) *document {
	d := &document{file: file, form: newForm(kinds), values: make(map[string]any), lines: make(map[string]int), from: make(map[string]origin)}
	root, err := decodeYAML(data)
	switch {
	case err != nil:
		d.broken = true
		d.syntax(err)
	case root.Kind != yaml.MappingNode:
		d.broken = true
		d.fail(root.Line, "", "not a lab: want keys such as topology and schemes")
	default:
		d.mapping(root, "")
	}
	return d
}

// decodeYAML reads the one document of a file.
func decodeYAML(data []byte) (*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("empty: want keys such as topology and schemes")
	} else if err != nil {
		return nil, err
	}
	if err := dec.Decode(&second); err == nil {
		return nil, fmt.Errorf("yaml: line %d: a second document: want one lab a file", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return doc.Content[0], nil
}

// syntax reports an error of the YAML reader, whose text holds the line: counted
// from 0, and left out when it is 0, where its parser complains, and from 1 where
// its scanner does.
func (d *document) syntax(err error) {
	fromParser := regexp.MustCompile(`^did not find expected (',' or|key|'-' indicator|node content|<)`)
	m := regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s).*)$`).FindStringSubmatch(err.Error())
	if m == nil {
		d.fail(0, "", "%w", err)
		return
	}
	line, _ := strconv.Atoi(m[1]) // no line: 0
	if fromParser.MatchString(m[2]) {
		line++
	}
	d.fail(line, "", "not YAML: %s", m[2])
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

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "." + name
}

// mapping takes the keys below prefix.
func (d *document) mapping(node *yaml.Node, prefix string) {
	for name, value := range pairs(node) {
		path := join(prefix, name.Value)
		if !d.admit(name, value, prefix) {
			continue
		}
		short, isShort := d.form.shorthand(path)
		switch {
		case path == extendsKey:
			d.extension(value)
		case path == schemesKey:
			d.schemeList(value)
		case path == backgroundKey:
			d.backgroundList(value)
		case !d.form.section(path):
			d.leaf(path, value)
		case value.Kind == yaml.MappingNode:
			d.mapping(value, path)
		case isShort && value.Kind == yaml.ScalarNode:
			d.lines[short] = value.Line
			d.leaf(short, value)
		default:
			d.fail(value.Line, path, "not a mapping: want keys such as %s", d.form.below(path)[0])
		}
	}
}

// admit tells whether a key below prefix is one of a lab, new, and has a value.
// It notes its line.
func (d *document) admit(name, value *yaml.Node, prefix string) bool {
	path := join(prefix, name.Value)
	switch first, dup := d.lines[path]; {
	case name.Kind != yaml.ScalarNode:
		d.fail(name.Line, prefix, "a key is not a name")
	case !isWord(name.Value) || !d.form.leaf(path) && !d.form.section(path) && !isList(path) && path != extendsKey:
		d.fail(name.Line, path, "%w", kind.Unknown("key", name.Value, d.form.below(prefix)))
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
	if value.Kind == yaml.MappingNode {
		d.fail(value.Line, path, "a mapping: want a value")
		return
	}
	if aliased(value) {
		d.fail(value.Line, path, "an alias: want the value written out")
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

// aliased tells whether a value refers to another, possibly to itself.
func aliased(value *yaml.Node) bool {
	if value.Kind == yaml.AliasNode {
		return true
	}
	for _, inner := range value.Content {
		if aliased(inner) {
			return true
		}
	}
	return false
}

// schemeList takes the list of schemes apart by their names.
func (d *document) schemeList(list *yaml.Node) {
	if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
		d.fail(list.Line, schemesKey, "not a list of schemes: want at least one {name: tcn, aqm: tcn}")
		return
	}
	for i, item := range list.Content {
		path := fmt.Sprintf("%s[%d]", schemesKey, i)
		if item.Kind != yaml.MappingNode {
			d.fail(item.Line, path, "not a scheme: want one such as {name: tcn, aqm: tcn}")
			continue
		}
		if name, ok := d.entryName(item, path, schemePath); ok {
			d.schemes = append(d.schemes, name)
			d.lines[schemePath(name)] = item.Line
			d.form.addScheme(name)
			d.mapping(item, schemePath(name))
			delete(d.values, schemePath(name)+".name")
		}
	}
}

// entryName finds the name of an entry of a list, and refuses one that is there
// twice. The entry's keys stand below the path of its name.
func (d *document) entryName(item *yaml.Node, path string, pathOf func(name string) string) (string, bool) {
	for name, value := range pairs(item) {
		if name.Value != "name" {
			continue
		}
		var s string
		if err := label(&s).read(value.Value); err != nil {
			d.fail(value.Line, path+".name", "%w", err)
			return "", false
		}
		if first, dup := d.lines[pathOf(s)]; dup {
			d.fail(value.Line, path+".name", "%q is the name of the one on line %d, too", s, first)
			return "", false
		}
		return s, true
	}
	d.fail(item.Line, path+".name", "missing: want a name such as tcn")
	return "", false
}
