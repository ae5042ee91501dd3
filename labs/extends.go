package labs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// extendsKey names what a file starts from: another lab, or a part that several
// labs share. It is either of the book, or a file, whose name starts from the
// folder of the file that extends it.
const extendsKey = "extends"

// source is a lab file that was found.
type source struct {
	file string // as errors name it
	dir  string // that relative names in it start from; empty in the book
	data []byte
	// bookOnly is set where a file of the machine has no place: in the book, and
	// in a lab that is handed in as text.
	bookOnly bool
}

// extension takes the name of what the file starts from.
func (d *document) extension(value *yaml.Node) {
	if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
		d.fail(value.Line, extendsKey, "not a name: want a lab of the book, a part of one, or a file")
		return
	}
	d.extends = value.Value
}

// inherit lays the file over what it extends, which is the last of chain's
// business: the files that lead here, the file itself at the end.
func (d *document) inherit(chain []source) {
	if d.extends == "" || d.broken {
		return
	}
	base, err := chain[len(chain)-1].find(d.extends)
	if err == nil {
		err = circle(chain, base)
	}
	if err != nil {
		d.fail(d.lines[extendsKey], extendsKey, "%w", err)
		return
	}
	parent := parse(base.file, base.data, d.form.kinds)
	parent.inherit(append(slices.Clone(chain), base))
	d.errs = append(d.errs, parent.errs...)
	d.broken = d.broken || parent.broken
	d.over(parent, base)
}

// find looks for what a file extends.
func (s source) find(ref string) (source, error) {
	if data, err := book.ReadFile(ref + extension); err == nil {
		return source{file: ref + extension, data: data, bookOnly: true}, nil
	}
	if s.bookOnly {
		return source{}, fmt.Errorf("%w %q: want a lab or part of the lab book", ErrNoLab, ref)
	}
	path := ref
	if !filepath.IsAbs(ref) {
		path = filepath.Join(s.dir, ref)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return source{}, fmt.Errorf("%w %q: neither in the lab book nor the file %s", ErrNoLab, ref, path)
	}
	if err != nil {
		return source{}, fmt.Errorf("reading what the lab extends: %w", err)
	}
	return source{file: path, dir: filepath.Dir(path), data: data}, nil
}

// circle refuses a file that is among those that lead to it.
func circle(chain []source, base source) error {
	names := make([]string, len(chain))
	for i, s := range chain {
		names[i] = s.file
	}
	if !slices.Contains(names, base.file) {
		return nil
	}
	return fmt.Errorf("%s extends itself: %s", base.file, strings.Join(append(names, base.file), ", then "))
}

// ownKeys are those that a file does not take from what it extends: they tell
// labs apart.
func ownKeys() []string { return []string{"name", "title"} }

// over lays the document over a parent: each key that it does not set is the
// parent's. Lists are taken as a whole, and the parameters of a kind only by a
// document that leaves the kind alone.
func (d *document) over(parent *document, base source) {
	if len(d.schemes) == 0 {
		d.schemes = parent.schemes
		for _, name := range parent.schemes {
			d.form.addScheme(name)
		}
	}
	if len(d.backgrounds) == 0 {
		d.backgrounds = parent.backgrounds
		for _, name := range parent.backgrounds {
			d.form.addBackground(name)
		}
	}
	for path, value := range parent.values {
		if !d.takes(parent, path) {
			continue
		}
		d.values[path] = value
		d.from[path] = origin{parent, base.dir}
		if of, ok := parent.from[path]; ok {
			d.from[path] = of
		}
	}
}

// takes tells whether the document has the parent's value of a key.
func (d *document) takes(parent *document, path string) bool {
	_, set := d.lines[path]
	_, short := d.values[path] // by a bare value in place of a mapping
	if set || short || slices.Contains(ownKeys(), path) || !d.listed(path) {
		return false
	}
	for _, c := range parent.form.choices {
		kindPath := join(c.path, c.kindKey)
		mine, set := d.values[kindPath]
		if set && path != kindPath && strings.HasPrefix(path, c.path+".") &&
			!slices.Contains(parent.form.leaves, path) && !reflect.DeepEqual(mine, parent.values[kindPath]) {
			return false
		}
	}
	return true
}

// listed tells whether a key is of a scheme or background that the document
// has, or of neither.
func (d *document) listed(path string) bool {
	for list, names := range map[string][]string{schemesKey: d.schemes, backgroundKey: d.backgrounds} {
		if rest, ok := strings.CutPrefix(path, list+"."); ok {
			name, _, _ := strings.Cut(rest, ".")
			return slices.Contains(names, name) && d.lines[join(list, name)] == 0
		}
	}
	return true
}

// origin is where a document took a value from.
type origin struct {
	*document
	dir string // that relative names in it start from
}

// place is where a key of the document stands; line is 0 for one that does not.
func (d *document) place(path string) (file string, line int) {
	key, _, _ := strings.Cut(path, "[")
	if of, ok := d.from[key]; ok {
		return of.file, of.lines[path]
	}
	return d.file, d.lines[path]
}
