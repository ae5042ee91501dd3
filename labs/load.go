package labs

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"aqmlab/bounded"
	"aqmlab/labs/schema"
	"aqmlab/switch/port"
)

// Options is what a command lays over a lab file.
type Options struct {
	// Set holds overrides "key=value" such as "workload.load=0.5,0.9",
	// "host.rto_min=5ms" or "schemes.tcn.threshold=100us". Of two for one key the
	// last prevails.
	Set []string
	// Kinds is what the schemes and the scheduler may be.
	Kinds port.Kinds
}

// Error is one thing wrong with a lab, and Errors everything.
type (
	Error  = schema.Error
	Errors = schema.Errors
)

// Load reads a lab: the name of one of the lab book, or the path of a file. A
// containerlab file, whose name ends in .clab.yml, is a lab of that network with
// defaults around it.
//
// Environment variables prevail over the file, and opts.Set over both. The
// variable of a key is AQMLAB_ and the key in capitals with underscores for dots
// and hyphens: AQMLAB_WORKLOAD_FLOWS=200, AQMLAB_SCHEMES_TCN_THRESHOLD=100us. An
// empty variable counts as not set. An override that changes a kind drops the
// parameters that the file gives the kind before.
//
// A lab that does not hold together gives [Errors], all of them at once. A name
// that is neither in the book nor that of a file gives [ErrNoLab].
func Load(ref string, opts Options) (*Lab, error) {
	over := schema.Overrides{Environment: true, Set: opts.Set}
	if clabName(ref) != "" {
		at, file, err := openTopology(ref)
		if err != nil {
			return nil, err
		}
		return readOf(file, at, over, opts.Kinds)
	}
	at, err := open(ref)
	if err != nil {
		return nil, err
	}
	return read(at, over, opts.Kinds)
}

// Parse reads a lab file as it is, without any override, whose schemes and
// scheduler ship with aqmlab; what it extends is of the lab book. The name of the
// file stands in errors, and names a lab that has no name.
func Parse(file string, data []byte) (*Lab, error) { return ParseOf(port.Kinds{}, file, data) }

// ParseOf is [Parse] for a lab whose schemes and scheduler are of those kinds.
func ParseOf(kinds port.Kinds, file string, data []byte) (*Lab, error) {
	return read(schema.Source{File: file, Data: data, BookOnly: true}, schema.Overrides{}, kinds)
}

// Book lists the labs that ship with aqmlab, by name. The environment has no
// say in it.
func Book() ([]Entry, error) {
	var entries []Entry
	for _, name := range BookNames() {
		l, err := FromBook(name, port.Kinds{})
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Name: name, Title: l.Title})
	}
	return entries, nil
}

// FromBook is a lab of the book as it is: neither the environment nor an
// override has a say in it. The error for a name that the book does not have
// wraps [ErrNoLab].
func FromBook(name string, kinds port.Kinds) (*Lab, error) {
	at, ok := inBook(bookName(name))
	if !ok {
		return nil, noLab(name)
	}
	l, err := read(at, schema.Overrides{}, kinds)
	if err != nil {
		return nil, fmt.Errorf("reading the lab book: %w", err)
	}
	return l, nil
}

// maxFile is more than any lab has.
const maxFile = 16 << 20

// inBook is the file of a lab of the book.
func inBook(name string) (at schema.Source, ok bool) {
	data, err := book.ReadFile(name + extension)
	if err != nil || isPart(name) {
		return schema.Source{}, false
	}
	return schema.Source{File: name + extension, Data: data, BookOnly: true}, true
}

// open finds the lab file. A file comes before the other spelling of a name of the book.
func open(ref string) (schema.Source, error) {
	if at, ok := inBook(ref); ok {
		return at, nil
	}
	data, err := bounded.ReadFile(ref, maxFile)
	if at, ok := inBook(bookName(ref)); ok && errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if errors.Is(err, fs.ErrNotExist) && (!isPath(ref) || isBookName(ref)) {
		return schema.Source{}, noLab(ref)
	}
	if err != nil {
		return schema.Source{}, fmt.Errorf("reading a lab: %w", err)
	}
	return schema.Source{File: ref, Dir: filepath.Dir(ref), Data: data}, nil
}

// isPath tells whether ref can only be meant as the path of a file.
func isPath(ref string) bool {
	ext := filepath.Ext(ref)
	return strings.ContainsRune(ref, filepath.Separator) || ext == extension || ext == ".yml"
}
