package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"aqmlab/kind"
)

// Source is a file that was found.
type Source struct {
	File string // as errors name it
	Dir  string // that relative names in it start from; empty in the book
	Data []byte
	// BookOnly is set where a file of the machine has no place: in the book, and
	// in a lab that is handed in as text.
	BookOnly bool
	// Made is set for a text that was made from the file: errors have no line.
	Made bool
}

// Find looks for what a file extends. A nil one is for files that extend nothing.
type Find func(from Source, name string) (Source, error)

// inherit lays the file over what it extends. The chain is the files that lead
// here, the file itself at the end.
func (d *document) inherit(at Source, chain []string, find Find) {
	if d.extends == "" || d.broken {
		return
	}
	if find == nil {
		d.fail(d.lines[extendsKey], extendsKey, "%w", kind.Unknown("key", extendsKey, d.schema.below("")))
		return
	}
	base, err := find(at, d.extends)
	known := slices.Contains(chain, base.File)
	chain = append(slices.Clone(chain), base.File)
	if err == nil && known {
		err = fmt.Errorf("%s extends itself: %s", base.File, strings.Join(chain, ", then "))
	}
	if err != nil {
		d.fail(d.lines[extendsKey], extendsKey, "%w", err)
		return
	}
	parent := parse(base.File, base.Data, d.root)
	parent.inherit(base, chain, find)
	d.errs = append(d.errs, parent.errs...)
	d.broken = d.broken || parent.broken
	d.over(parent, base)
}

// over lays the document over a parent: each key that it does not set is the
// parent's. Lists are taken as a whole, and the parameters of a kind only by a
// document that leaves the kind alone.
func (d *document) over(parent *document, base Source) {
	for _, list := range d.schema.Lists {
		if len(d.entries[list.Path]) > 0 {
			continue
		}
		d.entries[list.Path] = parent.entries[list.Path]
		for _, name := range d.entries[list.Path] {
			d.schema = d.schema.with(list, name)
		}
	}
	for path, value := range parent.values {
		if !d.takes(parent, path) {
			continue
		}
		d.values[path] = value
		d.from[path] = origin{parent, base.Dir}
		if of, ok := parent.from[path]; ok {
			d.from[path] = of
		}
	}
}

// takes tells whether the document has the parent's value of a key.
func (d *document) takes(parent *document, path string) bool {
	_, set := d.lines[path]
	_, short := d.values[path]               // by a bare value in place of a mapping
	own := path == "name" || path == "title" // they tell labs apart
	if set || short || own || !d.listed(path) {
		return false
	}
	for _, c := range parent.schema.Choices {
		kindPath := c.KindPath()
		mine, set := d.values[kindPath]
		if set && path != kindPath && strings.HasPrefix(path, c.Path+".") &&
			!parent.schema.isKey(path) && !reflect.DeepEqual(mine, parent.values[kindPath]) {
			return false
		}
	}
	return true
}

// listed tells whether a key is of an entry of a list that the document has from
// elsewhere, or of none.
func (d *document) listed(path string) bool {
	for list, names := range d.entries {
		if rest, ok := strings.CutPrefix(path, list+"."); ok {
			name, _, _ := strings.Cut(rest, ".")
			return slices.Contains(names, name) && d.lines[join(list, name)] == 0
		}
	}
	return true
}

// place is where a key of the document stands; line is 0 for one that does not.
func (d *document) place(path string) (file string, line int) {
	key, _, _ := strings.Cut(path, "[")
	if of, ok := d.from[key]; ok {
		return of.file, of.lines[path]
	}
	return d.file, d.lines[path]
}
