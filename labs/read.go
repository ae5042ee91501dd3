package labs

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"aqmlab/kind"
)

// lab reads the merged values into a lab and validates it. Relative names of
// files in the lab file start from dir.
func (ls *layers) lab(dir string) (*Lab, error) {
	if ls.broken {
		return nil, ls.errs.sorted(ls.file)
	}
	l := defaults()
	l.Name, l.Kinds = slug(ls.file), ls.form.kinds
	r := &reader{layers: ls, failed: make(map[string]bool)}
	for _, e := range ls.errs {
		r.failed[e.Key] = true
	}
	r.implyKind()
	for _, k := range keysOf(l) {
		r.read(k)
	}
	if err := r.topology(l, dir); err != nil {
		return nil, err
	}
	r.transport(l)
	l.RTT.Distribution = r.choice(r.form.choice(distributionPath), l.RTT.Distribution)
	l.Switch.Scheduler = r.scheduler(l.Switch.Scheduler)
	l.Workload.Arrival = r.choice(r.form.choice(arrivalPath), l.Workload.Arrival)
	l.Workload.Sizes = r.choice(r.form.choice(sizesPath), l.Workload.Sizes)
	files := map[string]map[string]any{
		sizesPath:        l.Workload.Sizes.Params,
		arrivalPath:      l.Workload.Arrival.Params,
		distributionPath: l.RTT.Distribution.Params,
	}
	for _, name := range r.backgrounds {
		b := r.background(name)
		l.Background = append(l.Background, b)
		files[join(backgroundPath(name), "sizes")] = b.Sizes.Params
		files[join(backgroundPath(name), "arrival")] = b.Arrival.Params
	}
	for path, params := range files {
		if err := r.anchorFile(path, params, dir); err != nil {
			return nil, err
		}
	}
	for _, name := range r.schemes {
		l.Schemes = append(l.Schemes, r.scheme(name))
	}
	r.check(l)
	if len(r.errs) > 0 {
		return nil, r.errs.sorted(r.file)
	}
	return l, nil
}

// slug makes a name out of that of a file.
func slug(file string) string {
	base := strings.ToLower(filepath.Base(file))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	s := strings.Trim(strings.Map(func(r rune) rune {
		if isLabel(string(r)) {
			return r
		}
		return '-'
	}, base), "-")
	if !isLabel(s) {
		return "lab"
	}
	return s
}

// reader turns merged values into those of a lab.
type reader struct {
	*layers
	failed map[string]bool // keys that have an error
}

// fail blames a key, where it was set.
func (r *reader) fail(path, format string, args ...any) {
	r.failed[path] = true
	e := &Error{Source: r.file, Key: path, Err: fmt.Errorf(format, args...)}
	for at := path; at != ""; at = parent(at) {
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

// parent is the key that holds path: a list, a mapping, or nothing.
func parent(path string) string { return path[:max(strings.LastIndexAny(path, ".["), 0)] }

// sound tells whether none of the keys has an error, so that more can be said
// about them.
func (r *reader) sound(paths ...string) bool {
	return !slices.ContainsFunc(paths, func(p string) bool { return r.failed[p] })
}

func (r *reader) read(k key) {
	value := r.get(k.path)
	if value == nil {
		return
	}
	err := k.read(value)
	var element *elementError
	switch {
	case errors.As(err, &element):
		r.failed[k.path] = true
		r.fail(fmt.Sprintf("%s[%d]", k.path, element.index), "%w", element.err)
	case err != nil:
		r.fail(k.path, "%w", err)
	}
}

// choice reads a kind and the parameters for it.
func (r *reader) choice(c choice, standard kind.Choice) kind.Choice {
	made := standard
	kindPath := join(c.path, c.kindKey)
	if value := r.get(kindPath); value != nil {
		name, ok := asString(value)
		if !ok {
			r.fail(kindPath, "%s is not the name of a kind", show(value))
		}
		made = kind.Choice{Kind: name}
	}
	inFile, ok := r.values[kindPath]
	if !ok {
		inFile = standard.Kind
	}
	for _, name := range r.given(c) {
		path := join(c.path, name)
		if made.Kind != inFile && r.origins[path] == "" {
			continue // meant for the kind in the file, which is overridden
		}
		if made.Params == nil {
			made.Params = make(map[string]any)
		}
		made.Params[name] = plain(r.get(path))
	}
	return made
}

// scheduler reads a scheduler and the one below it, which is dropped, as other
// parameters are, when an override replaces the kind above it.
func (r *reader) scheduler(standard kind.Choice) kind.Choice {
	c := r.form.choice(innerPath)
	outer, inner := r.choice(r.form.choice(schedulerPath), standard), r.choice(c, kind.Choice{})
	inFile, ok := r.values[join(schedulerPath, "kind")]
	if !ok {
		inFile = standard.Kind
	}
	overridden := slices.ContainsFunc(slices.Collect(maps.Keys(r.origins)), func(path string) bool {
		return strings.HasPrefix(path, innerPath+".")
	})
	if inner.Kind == "" && len(inner.Params) == 0 || outer.Kind != inFile && !overridden {
		return outer
	}
	if outer.Params == nil {
		outer.Params = make(map[string]any)
	}
	below := map[string]any{}
	maps.Copy(below, inner.Params)
	if inner.Kind != "" {
		below[c.kindKey] = inner.Kind
	}
	outer.Params[innerKey] = below
	return outer
}

// given lists the parameters of a choice that some layer sets.
func (r *reader) given(c choice) []string {
	names := make(map[string]bool)
	for _, path := range slices.Concat(slices.Collect(maps.Keys(r.values)), slices.Collect(maps.Keys(r.origins))) {
		if prefix, name, _ := cutLast(path); prefix == c.path && name != c.kindKey && !slices.Contains(r.form.leaves, path) {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// plain gives the text of an override the type that it would have in a file,
// where commas make a list. It turns numbers without a fraction into whole
// ones, which is how a file would be read back.
func plain(value any) any {
	switch v := value.(type) {
	case text:
		if !strings.ContainsAny(string(v), ",[") {
			var scalar any
			if err := yaml.Unmarshal([]byte(v), &scalar); err != nil {
				return string(v)
			}
			if _, ok := scalar.(map[string]any); ok {
				return string(v)
			}
			return plain(scalar)
		}
		return plain(asList(v))
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = plain(item)
		}
		return items
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return int(v)
		}
	}
	return value
}

// anchorFile makes the name of a file among the parameters absolute, so that
// the lab means the same wherever it is stored. A name in the lab file starts
// from its folder, one in an override from the working directory.
func (r *reader) anchorFile(path string, params map[string]any, dir string) error {
	name, ok := params["file"].(string)
	if !ok || name == "" || filepath.IsAbs(name) {
		return nil
	}
	if of, inherited := r.from[join(path, "file")]; inherited {
		dir = of.dir
	}
	if r.origins[join(path, "file")] != "" {
		dir = ""
	}
	abs, err := filepath.Abs(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("finding %s: %w", name, err)
	}
	params["file"] = abs
	return nil
}
