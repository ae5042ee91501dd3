package labs

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

func newLayers(d *document) (*layers, error) {
	ls := &layers{document: d, merged: viper.New(), origins: make(map[string]string)}
	if err := ls.merged.MergeConfigMap(nest(d.values)); err != nil {
		return nil, fmt.Errorf("merging %s: %w", d.file, err)
	}
	return ls, nil
}

// nest turns paths into the mappings of mappings that Viper takes.
func nest(values map[string]any) map[string]any {
	root := make(map[string]any)
	for path, v := range values {
		names := strings.Split(path, ".")
		at := root
		for _, name := range names[:len(names)-1] {
			if at[name] == nil {
				at[name] = make(map[string]any)
			}
			at = at[name].(map[string]any)
		}
		at[names[len(names)-1]] = v
	}
	return root
}

// environment lays the variables over the file.
func (ls *layers) environment() error {
	bound := make(map[string]bool)
	ls.merged.SetEnvPrefix(envPrefix)
	ls.merged.SetEnvKeyReplacer(envReplacer())
	for path, short := range ls.bindings() {
		names := append([]string{variable(path)}, short...)
		err := ls.merged.BindEnv(path)
		if err == nil && len(short) > 0 {
			err = ls.merged.BindEnv(append([]string{path}, short...)...)
		}
		if err != nil {
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
// none. Other AQMLAB_ variables are none of the lab's business.
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

// bindings lists the keys that variables set, each with the variables that set
// it beside its own, which prevails: those of the mapping that it is short for.
func (ls *layers) bindings() map[string][]string {
	short := make(map[string][]string)
	for _, path := range ls.form.leaves {
		short[path] = nil
	}
	for _, c := range ls.form.choices {
		short[join(c.path, c.kindKey)] = []string{variable(c.path)}
		for _, param := range c.params {
			short[join(c.path, param)] = nil
		}
	}
	short["rtt.min"] = []string{variable("rtt")}
	short["rtt.max"] = []string{variable("rtt")}
	return short
}

// variable is the environment variable of a key.
func variable(path string) string {
	return envReplacer().Replace(strings.ToUpper(envPrefix + "_" + path))
}

// envReplacer turns a key into what a shell takes for the name of a variable.
func envReplacer() *strings.Replacer { return strings.NewReplacer(".", "_", "-", "_") }

// looksBound tells whether a variable's first word is that of a key.
func (ls *layers) looksBound(name string) bool {
	return slices.ContainsFunc(ls.form.below(""), func(top string) bool {
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
	if path == "rtt" {
		return []string{"rtt.min", "rtt.max"}, nil
	}
	if short, ok := ls.form.shorthand(path); ok {
		return []string{short}, nil
	}
	if ls.form.leaf(path) {
		return []string{path}, nil
	}
	if ls.form.section(path) {
		return nil, fmt.Errorf("a group of keys: want one of them: %s", strings.Join(ls.form.below(path), ", "))
	}
	return nil, ls.unknown(path)
}

// unknown says which part of a path is no key of the lab.
func (ls *layers) unknown(path string) error {
	prefix := ""
	for name := range strings.SplitSeq(path, ".") {
		full := join(prefix, name)
		switch {
		case ls.form.leaf(full):
			return fmt.Errorf("%w key: %s holds a single value", kind.ErrUnknown, full)
		case ls.form.section(full), isList(full):
			prefix = full
		case prefix == backgroundKey:
			return ls.unknownBackground(name)
		case prefix == schemesKey:
			return kind.Unknown("scheme", name, ls.schemes)
		default:
			return kind.Unknown("key", name, ls.form.below(prefix))
		}
	}
	return fmt.Errorf("%w key", kind.ErrUnknown)
}

// get is the value that prevails for a key, or nil when no layer has one.
func (ls *layers) get(path string) any {
	v := ls.merged.Get(path)
	if s, ok := v.(string); ok && ls.origins[path] != "" {
		return text(s)
	}
	return v
}

func (ls *layers) failAt(source, path, format string, args ...any) {
	ls.errs = append(ls.errs, &Error{Source: source, Key: path, Err: fmt.Errorf(format, args...)})
}
