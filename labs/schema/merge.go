package schema

import (
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

// layers is the file, the environment and --set, one over the other.
type layers struct {
	*document
	merged  *viper.Viper
	origins map[string]string // --set or a variable, by key; the rest is from the file
}

func newLayers(d *document) *layers {
	ls := &layers{document: d, merged: viper.New(), origins: make(map[string]string)}
	for path, value := range d.values {
		ls.merged.SetDefault(path, value)
	}
	return ls
}

// environment lays the variables over the file.
func (ls *layers) environment() error {
	bound := make(map[string]bool)
	for path, names := range ls.bindings() {
		if err := ls.merged.BindEnv(append([]string{path}, names...)...); err != nil {
			return fmt.Errorf("binding %s to the environment: %w", path, err)
		}
		for _, name := range slices.Backward(names) {
			bound[name] = true
			if os.Getenv(name) != "" {
				ls.origins[path] = name
			}
		}
	}
	ls.strayVariables(bound)
	return nil
}

// strayVariables refuses variables that start like that of a key but belong to
// none. Other AQMLAB_ variables are none of our business.
func (ls *layers) strayVariables(bound map[string]bool) {
	known := slices.Sorted(maps.Keys(bound))
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		if value == "" || bound[name] || !ls.looksBound(name) {
			continue
		}
		err := fmt.Errorf("%w variable: no key of the lab is set by it", kind.ErrUnknown)
		if near := kind.Nearest(name, known); near != "" {
			err = fmt.Errorf("%w (did you mean %s?)", err, near)
		}
		ls.errs = append(ls.errs, &Error{Source: name, Err: err})
	}
}

// bindings lists the keys that variables set, each with these variables: its own,
// which prevails, and those of the mappings that a bare value stands for.
func (ls *layers) bindings() map[string][]string {
	names := make(map[string][]string)
	for _, k := range ls.schema.Keys {
		names[k.Path] = []string{variable(k.Path)}
	}
	for _, c := range ls.schema.Choices {
		names[c.KindPath()] = []string{variable(c.KindPath()), variable(c.Path)}
		for _, param := range c.paramNames() {
			names[join(c.Path, param)] = []string{variable(join(c.Path, param))}
		}
	}
	for section, paths := range ls.schema.shorts {
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
func (ls *layers) looksBound(name string) bool {
	return slices.ContainsFunc(ls.schema.below(""), func(top string) bool {
		return name == variable(top) || strings.HasPrefix(name, variable(top)+"_")
	})
}

// set lays one "key=value" over all others.
func (ls *layers) set(pair string) {
	path, value, ok := strings.Cut(pair, "=")
	path = strings.ToLower(strings.TrimSpace(path))
	if !ok || path == "" {
		ls.failAt(setSource, "", "%q is not key=value: want one such as workload.load=0.5,0.9", pair)
		return
	}
	targets, err := ls.targets(path)
	if err != nil {
		ls.failAt(setSource, path, "%w", err)
		return
	}
	for _, target := range targets {
		ls.merged.Set(target, strings.TrimSpace(value))
		ls.origins[target] = setSource
	}
}

// targets is the keys that an override of path sets.
func (ls *layers) targets(path string) ([]string, error) {
	if short := ls.schema.short(path); short != nil {
		return short, nil
	}
	if ls.schema.hasValue(path) {
		return []string{path}, nil
	}
	if ls.schema.isSection(path) {
		return nil, fmt.Errorf("a group of keys: want one of them: %s", strings.Join(ls.schema.below(path), ", "))
	}
	return nil, ls.unknown(path)
}

// unknown says which part of a path is no key of the lab.
func (ls *layers) unknown(path string) error {
	prefix := ""
	for name := range strings.SplitSeq(path, ".") {
		full := join(prefix, name)
		_, isList := ls.schema.list(full)
		_, inList := ls.schema.list(prefix)
		switch names, noun := ls.entries[prefix], strings.TrimSuffix(prefix, "s"); {
		case ls.schema.hasValue(full):
			return fmt.Errorf("%w key: %s holds a single value", kind.ErrUnknown, full)
		case ls.schema.isSection(full), isList:
			prefix = full
		case inList && len(names) == 0:
			return fmt.Errorf("%w %s %q: the lab has none", kind.ErrUnknown, noun, name)
		case inList:
			return kind.Unknown(noun, name, names)
		default:
			return kind.Unknown("key", name, ls.schema.below(prefix))
		}
	}
	return fmt.Errorf("%w key", kind.ErrUnknown)
}

// Value is the value that prevails for a key, or nil when no layer has one.
func (ls *layers) Value(path string) any {
	v := ls.merged.Get(path)
	if s, ok := v.(string); ok && ls.origins[path] != "" {
		return kind.Text(s)
	}
	return v
}

func (ls *layers) failAt(source, path, format string, args ...any) {
	ls.errs = append(ls.errs, &Error{Source: source, Key: path, Err: fmt.Errorf(format, args...)})
}
