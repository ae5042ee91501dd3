// Package schema is what tags of a struct say a file may hold. It reads such
// files, merges what the environment and the command line lay over them, and says
// of each value that does not fit where it stands. It writes them, documents
// their keys, and makes a JSON Schema for editors.
//
// These are the tags, beside those of [kind.Field]:
//
//	lab       the path of a key below its struct's, "scheduler.queues"; empty where
//	          the keys of a struct stand among those of the one that holds it
//	default   the value of a key that is left out
//	form      one of [Rules.Forms]
//	distinct  "yes": a list has no value twice
//	write     "set": zero values are left out of written files; "changed": defaults
//	without   of a struct: the keys that it does not have here
//	required  "yes": of an entry of a list, for the JSON Schema
//	short     of a struct: the keys that a bare value in its place sets
//	kinds     of a choice: one of [Rules.Tables]. It is a [kind.Choice], or the
//	          parameters beside a kind in the field that the tag "name" names
//	key       of a choice: the key of the kind; "kind" without
//	what      of a list of structs: what an entry is
package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"aqmlab/kind"
)

// Schema is the keys of a file.
type Schema struct {
	Keys    []Key // with a value each, in the order of a written file
	Choices []Choice
	Lists   []List
	shorts  map[string][]string // the keys that a bare value sets, by what it stands in place of
	content Content
}

// Key is a key that has a value.
type Key struct {
	Path string
	kind.Field
	Form  *Form // nil for a plain value of its type
	index []int // of the field, from the struct of the schema
}

// Form is how a key is read and written that has other values than the plain
// ones of its type.
type Form struct {
	Type string // as documentation calls it
	// Read reads a value into what into points at. plain reads one of the type.
	Read  func(raw, into any, plain func() error) error
	Write func(value any) any                       // nil: as others of the type
	JSON  func(plain map[string]any) map[string]any // the JSON Schema of its values, from that of the plain ones
}

// Choice is a mapping that names a kind of a table and holds the parameters for
// it, or the bare name of the kind.
type Choice struct {
	Path    string
	KindKey string // key of the kind's name in the mapping
	Rows    []kind.Entry
	Doc     string
	Default string // kind; empty when there is none

	inner        []Choice // parameters that are choices themselves
	name, params []int    // indices of the fields
}

// List is a list of mappings. In the environment and in --set their names are keys below
// it, and where they have none their numbers, from 0.
type List struct {
	Path string
	kind.Field
	Item  *Schema
	index []int
}

// named tells whether entries have names.
func (l List) named() bool { return l.Item.isKey(nameKey) }

// exampleName is the name of the entry that is the example.
func (l List) exampleName() string {
	_, rest, _ := strings.Cut(l.Tag.Get("example"), nameKey+": ")
	name, _, _ := strings.Cut(rest, ",")
	return name
}

// Rules is what a struct's tags refer to.
type Rules struct {
	File   Content
	Names  map[string][]string // known names, by what they stand for
	Forms  map[string]Form
	Tables map[string][]kind.Entry
}

// Content is what a file holds, and which keys, as errors say it.
type Content struct{ What, Keys string }

// Of is the schema of the struct's type.
func Of(t reflect.Type, rules Rules) *Schema {
	s := &Schema{shorts: make(map[string][]string), content: rules.File}
	s.add(t, place{}, rules)
	return s
}

// place is where a struct stands in the one of the schema.
type place struct {
	path    string
	index   []int
	without []string
}

func (s *Schema) add(t reflect.Type, at place, rules Rules) {
	for _, f := range kind.Fields(t) {
		path, index := join(at.path, f.Name), append(slices.Clone(at.index), f.Index)
		switch _, isForm := f.Tag.Lookup("form"); {
		case f.Name != "" && slices.Contains(at.without, f.Name):
		case f.Kinds != "":
			s.addChoice(t, f, place{path: path, index: at.index}, rules)
		case f.Go.Kind() == reflect.Struct && !isForm:
			s.add(f.Go, place{path, index, strings.Fields(f.Tag.Get("without"))}, rules)
			for _, key := range strings.Fields(f.Tag.Get("short")) {
				s.shorts[path] = append(s.shorts[path], join(path, key))
			}
		case f.Go.Kind() == reflect.Slice && f.Go.Elem().Kind() == reflect.Struct:
			s.Lists = append(s.Lists, List{path, f, Of(f.Go.Elem(), rules), index})
		default:
			s.Keys = append(s.Keys, newKey(path, f, index, rules))
		}
	}
}

func newKey(path string, f kind.Field, index []int, rules Rules) Key {
	f.Default = f.Tag.Get("default")
	if f.OneOf == nil {
		f.OneOf = rules.Names[f.Tag.Get("what")]
	}
	k := Key{Path: path, Field: f, index: index}
	if form, ok := rules.Forms[f.Tag.Get("form")]; ok {
		k.Form, k.Type = &form, form.Type
	}
	return k
}

// addChoice adds a choice, and the parameters that are choices themselves. These
// have none of that sort.
func (s *Schema) addChoice(t reflect.Type, f kind.Field, at place, rules Rules) {
	c := Choice{
		Path: at.path, KindKey: cmp.Or(f.Tag.Get("key"), "kind"), Rows: rules.Tables[f.Kinds],
		Doc: f.Doc, Default: f.Tag.Get("default"),
	}
	for _, row := range c.Rows {
		for _, p := range row.Params {
			if p.Kinds != "" {
				c.inner = append(c.inner, Choice{Path: join(c.Path, p.Name), KindKey: "kind", Rows: rules.Tables[p.Kinds], Doc: p.Doc})
			}
		}
	}
	own := append(slices.Clone(at.index), f.Index)
	c.name, c.params = append(slices.Clone(own), 0), append(slices.Clone(own), 1) // of a kind.Choice
	if name := f.Tag.Get("name"); name != "" {
		field, _ := t.FieldByName(name)
		c.name, c.params = append(slices.Clone(at.index), field.Index...), own
	}
	s.Choices = append(append(s.Choices, c), c.inner...)
}

// KindPath is the key of the kind's name.
func (c Choice) KindPath() string { return join(c.Path, c.KindKey) }

// with is the schema with the keys of an entry of a list.
func (s Schema) with(list List, name string) Schema {
	prefix := join(list.Path, name)
	for _, k := range list.Item.Keys {
		if k.Name == nameKey {
			continue // stands in the path
		}
		k.Path = join(prefix, k.Path)
		s.Keys = append(slices.Clip(s.Keys), k)
	}
	for _, c := range list.Item.Choices {
		c.Path, c.inner = join(prefix, c.Path), slices.Clone(c.inner)
		for i := range c.inner {
			c.inner[i].Path = join(prefix, c.inner[i].Path)
		}
		s.Choices = append(slices.Clip(s.Choices), c)
	}
	return s
}

// nameKey is the key of an entry's name.
const nameKey = "name"

// Choice is the choice at a path that has one.
func (s *Schema) Choice(path string) Choice {
	return s.Choices[slices.IndexFunc(s.Choices, func(c Choice) bool { return c.Path == path })]
}

func (s *Schema) list(path string) (List, bool) {
	i := slices.IndexFunc(s.Lists, func(l List) bool { return l.Path == path })
	if i < 0 {
		return List{}, false
	}
	return s.Lists[i], true
}

// isKey tells whether path is that of a key with a name of the schema's own.
func (s *Schema) isKey(path string) bool {
	return slices.ContainsFunc(s.Keys, func(k Key) bool { return k.Path == path })
}

// hasValue tells whether path is that of a key, or of the kind or a parameter of
// a choice.
func (s *Schema) hasValue(path string) bool {
	parent, _, ok := cutLast(path)
	isChoice := func(path string) bool {
		return slices.ContainsFunc(s.Choices, func(c Choice) bool { return c.Path == path })
	}
	return s.isKey(path) || ok && !isChoice(path) && isChoice(parent)
}

// isMapping tells whether path is that of a key whose value is a mapping of names to names.
func (s *Schema) isMapping(path string) bool {
	return slices.ContainsFunc(s.Keys, func(k Key) bool { return k.Path == path && k.Go.Kind() == reflect.Map })
}

// isSection tells whether path holds further keys; the empty path does.
func (s *Schema) isSection(path string) bool { return len(s.below(path)) > 0 }

// below lists the names of the keys directly below a path, parameters of kinds
// not included.
func (s *Schema) below(path string) []string {
	var names []string
	add := func(full string) {
		rest, ok := strings.CutPrefix(full, path+".")
		if path == "" {
			rest, ok = full, true
		}
		name, _, _ := strings.Cut(rest, ".")
		if ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, k := range s.Keys {
		add(k.Path)
	}
	for _, c := range s.Choices {
		add(c.KindPath())
	}
	if path == "" {
		for _, l := range s.Lists {
			add(l.Path)
		}
	}
	return names
}

// short lists the keys that a bare value sets where a mapping could be: "rtt:
// 250us", "sizes: websearch". A file's sets the first.
func (s *Schema) short(path string) []string {
	for _, c := range s.Choices {
		if c.Path == path {
			return []string{c.KindPath()}
		}
	}
	return s.shorts[path]
}

func join(prefix, name string) string {
	if prefix == "" || name == "" {
		return prefix + name
	}
	return prefix + "." + name
}

// cutLast splits the last name off a path.
func cutLast(path string) (parent, name string, ok bool) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path, false
	}
	return path[:i], path[i+1:], true
}

// checkName is the error for what is no name that is fit for folders and
// commands, too.
func checkName(raw any) error {
	if s, ok := kind.AsText(raw); !ok || !IsName(s) {
		return fmt.Errorf("%s is not a name: want lower-case letters, digits and hyphens, at most 64", kind.Show(raw))
	}
	return nil
}

// IsName tells whether a text may name a lab, or an entry of a list.
func IsName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Name is the form of names.
func Name() Form {
	return Form{
		Type: "name",
		Read: func(raw, _ any, plain func() error) error {
			if err := checkName(raw); err != nil {
				return err
			}
			return plain()
		},
		JSON: func(map[string]any) map[string]any {
			return map[string]any{"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$"}
		},
	}
}
