package schema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
)

// Overrides is what is laid over a file.
type Overrides struct {
	Environment bool     // the variables of keys
	Set         []string // "key=value"; of two for one key the last prevails
}

// Reader has the values that prevail, and says where one that does not fit
// stands.
type Reader struct {
	*layers
	failed map[string]bool // keys that have an error
	dir    string          // of the file
}

// Open takes a file apart, with what it extends, and lays the overrides over it.
func (s *Schema) Open(at Source, find Find, over Overrides) (*Reader, error) {
	d := parse(at.File, at.Data, s)
	d.inherit([]Source{at}, find)
	if at.Made {
		clear(d.lines)
	}
	ls := newLayers(d)
	if over.Environment {
		if err := ls.environment(); err != nil {
			return nil, err
		}
	}
	for _, pair := range over.Set {
		ls.set(pair)
	}
	r := &Reader{layers: ls, failed: make(map[string]bool), dir: at.Dir}
	for _, e := range ls.errs {
		r.failed[e.Key] = true
	}
	return r, nil
}

// Err is everything that is wrong, or nil.
func (r *Reader) Err() error {
	if len(r.errs) == 0 {
		return nil
	}
	return r.errs.Sorted(r.file)
}

// Broken tells whether the file is not even a mapping: nothing more can be said
// about it.
func (r *Reader) Broken() bool { return r.broken }

// Blame adds errors of another file, which the key names. Without any it only
// keeps what is wrong with the key from being told twice.
func (r *Reader) Blame(path string, errs Errors) {
	r.errs = append(r.errs, errs...)
	r.failed[path] = true
}

// Fail blames a key, where it was set.
func (r *Reader) Fail(path, format string, args ...any) {
	r.failed[path] = true
	e := &Error{Source: r.file, Key: path, Err: fmt.Errorf(format, args...)}
	for at := path; at != ""; at = at[:max(strings.LastIndexAny(at, ".["), 0)] {
		if origin := r.origins[at]; origin != "" {
			e.Source = origin
			break
		}
		if file, line := r.place(at); line > 0 {
			e.Source, e.Line = file, line
			break
		}
	}
	r.errs = append(r.errs, e)
}

// Sound tells whether none of the keys has an error, so that more can be said
// about them.
func (r *Reader) Sound(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { return r.failed[p] })
}

// Has tells whether some layer sets a key.
func (r *Reader) Has(path string) bool { return r.Value(path) != nil }

// HasBelow tells whether some layer sets a key below a path.
func (r *Reader) HasBelow(path string) bool {
	return slices.ContainsFunc(r.schema.Keys, func(k Key) bool {
		return strings.HasPrefix(k.Path, path+".") && r.Has(k.Path)
	})
}

// InFile tells whether a key stands in the file, whatever its value.
func (r *Reader) InFile(path string) bool { return r.lines[path] > 0 }

// Overridden tells whether the environment or --set sets a key.
func (r *Reader) Overridden(path string) bool { return r.origins[path] != "" }

// Uses tells whether a key is set, other than by a file that sets it for the
// kind that an override has replaced.
func (r *Reader) Uses(path, kindPath string) bool {
	return r.Has(path) && (r.Overridden(path) || !r.Overridden(kindPath))
}

// Imply gives a key a value wherever another is set, unless it is set beside it
// or by a layer above.
func (r *Reader) Imply(path string, value any, by string) {
	if _, beside := r.values[path]; !beside && r.values[by] != nil {
		r.values[path], r.lines[path] = value, r.lines[by]
	}
	switch {
	case r.Overridden(path):
	case r.Overridden(by):
		r.merged.Set(path, value)
		r.origins[path] = r.origins[by]
	case r.values[by] != nil:
		r.merged.Set(path, r.values[path])
	}
}

// Folder is where a relative name of a file at a key starts from: the folder of
// the file that has the key, or for an override the working directory.
func (r *Reader) Folder(path string) string {
	if r.Overridden(path) {
		return "."
	}
	if from, inherited := r.from[path]; inherited {
		return from.dir
	}
	return r.dir
}

// Anchor makes the name of a file absolute, so that it means the same wherever
// the lab is stored.
func (r *Reader) Anchor(path, name string) (string, error) {
	if name == "" || filepath.IsAbs(name) {
		return name, nil
	}
	abs, err := filepath.Abs(filepath.Join(r.Folder(path), name))
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", name, err)
	}
	return abs, nil
}

// Decode writes the defaults into the struct that into points at, and over them
// what is set. What does not fit is blamed, and its default stays.
func (r *Reader) Decode(into any) {
	v := reflect.ValueOf(into).Elem()
	r.decode(r.root, "", v)
	for _, list := range r.schema.Lists {
		for _, name := range r.entries[list.Path] {
			item := reflect.New(list.Go.Elem()).Elem()
			r.decode(list.Item, join(list.Path, name), item)
			item.FieldByName("Name").SetString(name)
			field := v.FieldByIndex(list.index)
			field.Set(reflect.Append(field, item))
		}
	}
}

// decode reads the keys of a schema that stand below a prefix.
func (r *Reader) decode(s *Schema, prefix string, into reflect.Value) {
	s.fill(into)
	for _, k := range s.Keys {
		path := join(prefix, k.Path)
		value := r.Value(path)
		if value == nil || prefix != "" && k.Path == nameKey {
			continue
		}
		err := k.read(value, into.FieldByIndex(k.index))
		var element *kind.ElementError
		switch {
		case errors.As(err, &element):
			r.failed[path] = true
			r.Fail(fmt.Sprintf("%s[%d]", path, element.Index), "%w", element.Err)
		case err != nil:
			r.Fail(path, "%w", err)
		}
	}
	for _, c := range s.Choices {
		if c.name == nil || !r.Sound(join(prefix, c.KindPath())) {
			continue // the former is read with the choice around it
		}
		made := r.choice(r.schema.Choice(join(prefix, c.Path)))
		into.FieldByIndex(c.name).SetString(made.Kind)
		into.FieldByIndex(c.params).Set(reflect.ValueOf(made.Params))
	}
}

// fill writes the defaults of tags.
func (s *Schema) fill(into reflect.Value) {
	for _, k := range s.Keys {
		into.FieldByIndex(k.index).Set(k.standard())
	}
	for _, c := range s.Choices {
		if c.Default != "" {
			into.FieldByIndex(c.name).SetString(c.Default)
		}
	}
}

// read reads a value into the field of the key.
func (k Key) read(value any, into reflect.Value) error {
	plain := func() error { return k.plain(value, into) }
	if k.Form == nil || k.Form.Read == nil {
		return plain()
	}
	return k.Form.Read(value, into.Addr().Interface(), plain)
}

// plain reads a value of the field's type. A list may be a single value, and is
// not empty.
func (k Key) plain(value any, into reflect.Value) error {
	if into.Kind() != reflect.Slice {
		return k.Decode(value, into)
	}
	items := AsList(value)
	if len(items) == 0 {
		return errors.New("empty: want at least one value")
	}
	if err := k.Decode(items, into); err != nil {
		return err
	}
	seen := make(map[any]bool)
	for i := range into.Len() {
		v := into.Index(i).Interface()
		if seen[v] && k.Tag.Get("distinct") != "" {
			return &kind.ElementError{Index: i, Err: fmt.Errorf("%v is there twice", v)}
		}
		seen[v] = true
	}
	return nil
}

// AsList splits the text of an override at commas, with or without brackets
// around it. Any other single value is a list of one.
func AsList(value any) []any {
	switch v := value.(type) {
	case []any:
		return v
	case kind.Text:
		s := strings.TrimSpace(string(v))
		if inner, ok := strings.CutPrefix(s, "["); ok {
			s = strings.TrimSuffix(inner, "]")
		}
		var items []any
		for part := range strings.SplitSeq(s, ",") {
			items = append(items, kind.Text(strings.TrimSpace(part)))
		}
		return items
	}
	return []any{value}
}

// choice reads a kind and the parameters for it.
func (r *Reader) choice(c Choice) kind.Choice {
	made := kind.Choice{Kind: c.Default}
	if value := r.Value(c.KindPath()); value != nil {
		name, ok := kind.AsText(value)
		if !ok {
			r.Fail(c.KindPath(), "%s is not the name of a kind", kind.Show(value))
		}
		made.Kind = name
	}
	inFile, ok := r.values[c.KindPath()]
	if !ok {
		inFile = c.Default
	}
	set := func(name string, value any) {
		if made.Params == nil {
			made.Params = make(map[string]any)
		}
		made.Params[name] = value
	}
	for _, name := range r.given(c) {
		path := join(c.Path, name)
		if made.Kind == inFile || r.Overridden(path) { // else it is meant for the kind in the file, which is overridden
			set(name, inFileForm(r.Value(path)))
		}
	}
	for _, inner := range c.inner {
		below := r.choice(inner)
		overridden := slices.ContainsFunc(slices.Collect(maps.Keys(r.origins)), func(path string) bool {
			return strings.HasPrefix(path, inner.Path+".")
		})
		if below.Kind == "" && len(below.Params) == 0 || made.Kind != inFile && !overridden {
			continue
		}
		params := map[string]any{}
		maps.Copy(params, below.Params)
		if below.Kind != "" {
			params[inner.KindKey] = below.Kind
		}
		_, name, _ := cutLast(inner.Path)
		set(name, params)
	}
	return made
}

// given lists the parameters of a choice that some layer sets.
func (r *Reader) given(c Choice) []string {
	names := make(map[string]bool)
	for _, path := range slices.Concat(slices.Collect(maps.Keys(r.values)), slices.Collect(maps.Keys(r.origins))) {
		if prefix, name, _ := cutLast(path); prefix == c.Path && name != c.KindKey && !r.schema.isKey(path) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// inFileForm gives the text of an override the type that it would have in a file,
// where commas make a list. It turns numbers without a fraction into whole
// ones, which is how a file would be read back.
func inFileForm(value any) any {
	switch v := value.(type) {
	case kind.Text:
		if !strings.ContainsAny(string(v), ",[") {
			var scalar any
			if err := yaml.Unmarshal([]byte(v), &scalar); err != nil {
				return string(v)
			}
			if _, ok := scalar.(map[string]any); ok {
				return string(v)
			}
			return inFileForm(scalar)
		}
		return inFileForm(AsList(v))
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = inFileForm(item)
		}
		return items
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return int(v)
		}
	}
	return value
}
