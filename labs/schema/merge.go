package schema

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"aqmlab/kind"
)

const (
	setSource = "--set"
	envPrefix = "AQMLAB"
)

// Overrides is what is laid over a file.
type Overrides struct {
	Environment bool     // the variables of keys
	Set         []string // "key=value"; of two for one key the last prevails
	By          string   // what errors call Set; --set if empty
}

// Reader has the values that prevail of the file, the environment and --set, one
// over the other, and says where one that does not fit stands.
type Reader struct {
	*document
	merged  *viper.Viper
	origins map[string]string // --set or a variable, by key; the rest is from the file
	setBy   string            // what --set is called
	failed  map[string]bool   // keys that have an error
	dir     string            // of the file
}

// Open takes a file apart, with what it extends, and lays the overrides over it.
// It is an error when one of the files is not even a mapping: nothing more can be
// said about it.
func (s *Schema) Open(at Source, find Find, over Overrides) (*Reader, error) {
	d := parse(at.File, at.Data, s)
	d.inherit(at, []string{at.File}, find)
	if at.Made {
		clear(d.lines)
	}
	r := &Reader{document: d, merged: viper.New(), origins: make(map[string]string), failed: make(map[string]bool), dir: at.Dir, setBy: cmp.Or(over.By, setSource)}
	for path, value := range d.values {
		r.merged.SetDefault(path, value)
	}
	if over.Environment {
		if err := r.environment(); err != nil {
			return nil, err
		}
	}
	for _, pair := range over.Set {
		r.set(pair)
	}
	for _, e := range r.errs {
		r.failed[e.Key] = true
	}
	if r.broken {
		return nil, r.Err()
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
	if r.values[path] == nil && r.values[by] != nil {
		r.values[path], r.lines[path] = value, r.lines[by]
		r.merged.SetDefault(path, value)
	}
	if r.Overridden(by) && !r.Overridden(path) {
		r.merged.Set(path, value)
		r.origins[path] = r.origins[by]
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

// environment lays the variables over the file.
func (r *Reader) environment() error {
	bound := make(map[string]bool)
	for path, names := range r.bindings() {
		if err := r.merged.BindEnv(append([]string{path}, names...)...); err != nil {
			return fmt.Errorf("binding %s to the environment: %w", path, err)
		}
		for _, name := range slices.Backward(names) {
			bound[name] = true
			if os.Getenv(name) != "" {
				r.origins[path] = name
			}
		}
	}
	r.strayVariables(bound)
	return nil
}

// strayVariables refuses variables that start like that of a key but belong to
// none. Other AQMLAB_ variables are none of our business.
func (r *Reader) strayVariables(bound map[string]bool) {
	known := slices.Sorted(maps.Keys(bound))
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || bound[name] || !r.looksBound(name) {
			continue
		}
		err := fmt.Errorf("%w variable: no key of the lab is set by it", kind.ErrUnknown)
		if near := kind.Nearest(name, known); near != "" {
			err = fmt.Errorf("%w (did you mean %s?)", err, near)
		}
		r.errs = append(r.errs, &Error{Source: name, Err: err})
	}
}

// bindings lists the keys that variables set, each with these variables: its own,
// which prevails, and those of the mappings that a bare value stands for.
func (r *Reader) bindings() map[string][]string {
	names := make(map[string][]string)
	for _, k := range r.schema.Keys {
		names[k.Path] = []string{variable(k.Path)}
	}
	for _, c := range r.schema.Choices {
		names[c.KindPath()] = []string{variable(c.KindPath()), variable(c.Path)}
		for _, row := range c.Rows {
			for _, p := range row.Params {
				if path := join(c.Path, p.Name); p.Kinds == "" {
					names[path] = []string{variable(path)}
				}
			}
		}
	}
	for section, paths := range r.schema.shorts {
		for _, path := range paths {
			names[path] = append(names[path], variable(section))
		}
	}
	return names
}

// variable is the environment variable of a key.
func variable(path string) string {
	return strings.NewReplacer(".", "_", "-", "_").Replace(strings.ToUpper(envPrefix + "_" + path))
}

// looksBound tells whether a variable's first word is that of a key.
func (r *Reader) looksBound(name string) bool {
	return slices.ContainsFunc(r.schema.below(""), func(top string) bool {
		return name == variable(top) || strings.HasPrefix(name, variable(top)+"_")
	})
}

// set lays one "key=value" over all others.
func (r *Reader) set(pair string) {
	path, value, ok := strings.Cut(pair, "=")
	path = strings.ToLower(strings.TrimSpace(path))
	if !ok || path == "" {
		r.failAt(r.setBy, "", "%q is not key=value: want one such as workload.load=0.5,0.9", pair)
		return
	}
	targets, err := r.targets(path)
	if err != nil {
		r.failAt(r.setBy, path, "%w", err)
		return
	}
	for _, target := range targets {
		r.merged.Set(target, strings.TrimSpace(value))
		r.origins[target] = r.setBy
	}
}

// targets is the keys that an override of path sets.
func (r *Reader) targets(path string) ([]string, error) {
	if short := r.schema.short(path); short != nil {
		return short, nil
	}
	if r.schema.hasValue(path) {
		return []string{path}, nil
	}
	if r.schema.isSection(path) {
		return nil, fmt.Errorf("a group of keys: want one of them: %s", strings.Join(r.schema.below(path), ", "))
	}
	return nil, r.unknown(path)
}

// unknown says which part of a path is no key of the lab.
func (r *Reader) unknown(path string) error {
	prefix := ""
	for name := range strings.SplitSeq(path, ".") {
		full := join(prefix, name)
		_, isList := r.schema.list(full)
		_, inList := r.schema.list(prefix)
		switch names, noun := r.entries[prefix], strings.TrimSuffix(prefix, "s"); {
		case r.schema.hasValue(full):
			return fmt.Errorf("%w key: %s holds a single value", kind.ErrUnknown, full)
		case r.schema.isSection(full), isList:
			prefix = full
		case inList && len(names) == 0:
			return fmt.Errorf("%w %s %q: the lab has none", kind.ErrUnknown, noun, name)
		case inList:
			return kind.Unknown(noun, name, names)
		default:
			return kind.Unknown("key", name, r.schema.below(prefix))
		}
	}
	return fmt.Errorf("%w key", kind.ErrUnknown)
}

// Value is the value that prevails for a key, or nil when no layer has one.
func (r *Reader) Value(path string) any {
	v := r.merged.Get(path)
	if s, ok := v.(string); ok && r.origins[path] != "" {
		return kind.Text(s)
	}
	return v
}

func (r *Reader) failAt(source, path, format string, args ...any) {
	r.errs = append(r.errs, &Error{Source: source, Key: path, Err: fmt.Errorf(format, args...)})
}
