package labs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

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
	d, dir, err := open(ref, opts.Kinds)
	if err != nil {
		return nil, err
	}
	ls, err := newLayers(d)
	if err != nil {
		return nil, err
	}
	if err := ls.environment(); err != nil {
		return nil, err
	}
	for _, pair := range opts.Set {
		ls.set(pair)
	}
	return ls.lab(dir)
}

// Parse reads a lab file as it is, without any override, whose schemes and
// scheduler ship with aqmlab; what it extends is of the lab book. The name of the
// file stands in errors, and names a lab that has no name.
func Parse(file string, data []byte) (*Lab, error) { return ParseOf(port.Kinds{}, file, data) }

// ParseOf is [Parse] for a lab whose schemes and scheduler are of those kinds.
func ParseOf(kinds port.Kinds, file string, data []byte) (*Lab, error) {
	ls, err := newLayers(opened(source{file: file, bookOnly: true}, data, kinds))
	if err != nil {
		return nil, err
	}
	return ls.lab("")
}

// open finds the lab file and its folder, which is empty in the book.
func open(ref string, kinds port.Kinds) (d *document, dir string, err error) {
	if clabName(ref) != "" {
		return openTopology(ref, kinds)
	}
	if data, err := book.ReadFile(ref + extension); err == nil && !isPart(ref) {
		return opened(source{file: ref + extension, bookOnly: true}, data, kinds), "", nil
	}
	data, err := os.ReadFile(ref)
	if errors.Is(err, fs.ErrNotExist) && (!isPath(ref) || isBookName(ref)) {
		return nil, "", noLab(ref)
	}
	if err != nil {
		return nil, "", fmt.Errorf("reading a lab: %w", err)
	}
	dir = filepath.Dir(ref)
	return opened(source{file: ref, dir: dir}, data, kinds), dir, nil
}

// opened takes a file apart, with what it extends.
func opened(at source, data []byte, kinds port.Kinds) *document {
	d := parse(at.file, data, kinds)
	d.inherit([]source{at})
	return d
}

// isPath tells whether ref can only be meant as the path of a file.
func isPath(ref string) bool {
	ext := filepath.Ext(ref)
	return strings.ContainsRune(ref, filepath.Separator) || ext == extension || ext == ".yml"
}
