package schema

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
)

// Decode writes the defaults into the struct that into points at, and over them
// what is set. What does not fit is blamed, and its default stays.
func (r *Reader) Decode(into any) {
	v := reflect.ValueOf(into).Elem()
	r.decode(r.root, "", v)
	for _, list := range r.schema.Lists {
		for _, name := range r.entries[list.Path] {
			item := reflect.New(list.Go.Elem()).Elem()
			r.decode(list.Item, join(list.Path, name), item)
			if list.named() {
				item.FieldByName("Name").SetString(name)
			}
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
	if into.Kind() == reflect.Map {
		return names(value, into)
	}
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

// names reads a mapping of names to names: a list of "name=name".
func names(value any, into reflect.Value) error {
	made := make(map[string]string)
	for _, item := range AsList(value) {
		text, _ := kind.AsText(item)
		name, to, ok := strings.Cut(text, "=")
		name, to = strings.TrimSpace(name), strings.TrimSpace(to)
		switch _, dup := made[name]; {
		case !ok || name == "" || to == "":
			return fmt.Errorf("%s is no pair of names: want a mapping such as {a: b, c: d}, or a=b,c=d", kind.Show(item))
		case dup:
			return fmt.Errorf("%s is there twice", name)
		}
		made[name] = to
	}
	into.Set(reflect.ValueOf(made))
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
	params := make(map[string]any)
	for _, name := range r.given(c) {
		path := join(c.Path, name)
		if made.Kind == inFile || r.Overridden(path) { // else it is meant for the kind in the file, which is overridden
			params[name] = inFileForm(r.Value(path))
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
		mapping := map[string]any{}
		maps.Copy(mapping, below.Params)
		if below.Kind != "" {
			mapping[inner.KindKey] = below.Kind
		}
		_, name, _ := cutLast(inner.Path)
		params[name] = mapping
	}
	if len(params) > 0 {
		made.Params = params
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
			err := yaml.Unmarshal([]byte(v), &scalar)
			if _, isMapping := scalar.(map[string]any); err != nil || isMapping {
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

// BuildOf is [Build] of a row of the table, for the choice at a path.
func BuildOf[E, T any](r *Reader, path string, chosen kind.Choice, table kind.Table[E, T], env E) T {
	return Build(r, r.Choice(path), chosen, func(params map[string]any) (T, error) {
		return table.New(chosen.Kind, params, env)
	})
}

// Build makes what a choice names, only to see whether it can be made. It
// reports every parameter that is wrong: having reported one, it tries again
// without. It answers the zero T when nothing could be made.
func Build[T any](r *Reader, c Choice, chosen kind.Choice, try func(params map[string]any) (T, error)) (made T) {
	if !r.Sound(c.KindPath()) {
		return made
	}
	params := maps.Clone(chosen.Params)
	for {
		got, err := try(params)
		if err == nil {
			return got
		}
		var pe *kind.ParamError
		if !errors.As(err, &pe) || pe.Param == "" {
			r.Fail(c.KindPath(), "%w", err)
			return made
		}
		path := join(c.Path, pe.Param)
		if r.Sound(path) {
			r.Fail(path, "%w", r.hint(c, pe))
		}
		if _, given := params[pe.Param]; !given {
			return made
		}
		delete(params, pe.Param)
	}
}

// hint adds to the error for an unknown parameter the key beside the parameters
// that may have been meant.
func (r *Reader) hint(c Choice, pe *kind.ParamError) error {
	near := kind.Nearest(pe.Param, r.schema.below(c.Path))
	if near == "" || near == pe.Param || !errors.Is(pe.Err, kind.ErrUnknown) {
		return pe.Err
	}
	return fmt.Errorf("%w (did you mean %s?)", pe.Err, near)
}

// RefuseUnused refuses the parameters that only other kinds of the choice take.
func (r *Reader) RefuseUnused(c Choice, chosen kind.Choice) {
	for _, name := range slices.Sorted(maps.Keys(chosen.Params)) {
		var takers []string
		for _, row := range c.Rows {
			if slices.ContainsFunc(row.Params, func(p kind.Param) bool { return p.Name == name }) {
				takers = append(takers, row.Name)
			}
		}
		if len(takers) > 0 && !slices.Contains(takers, chosen.Kind) {
			r.Fail(join(c.Path, name), "not used when %s is %s: want %s", c.KindPath(), chosen.Kind, strings.Join(takers, " or "))
		}
	}
}

// Choice is the choice at a path of the file that has one.
func (r *Reader) Choice(path string) Choice { return r.schema.Choice(path) }
