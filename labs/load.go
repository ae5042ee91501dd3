package labs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/kind"
	"aqmlab/labs/schema"
	"aqmlab/labs/topologies"
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
	at, err := open(ref)
	if err != nil {
		return nil, err
	}
	return read(at, schema.Overrides{Environment: true, Set: opts.Set}, opts.Kinds)
}

// Parse reads a lab file as it is, without any override, whose schemes and
// scheduler ship with aqmlab; what it extends is of the lab book. The name of the
// file stands in errors, and names a lab that has no name.
func Parse(file string, data []byte) (*Lab, error) { return ParseOf(port.Kinds{}, file, data) }

// ParseOf is [Parse] for a lab whose schemes and scheduler are of those kinds.
func ParseOf(kinds port.Kinds, file string, data []byte) (*Lab, error) {
	return read(schema.Source{File: file, Data: data, BookOnly: true}, schema.Overrides{}, kinds)
}

// open finds the lab file.
func open(ref string) (schema.Source, error) {
	if clabName(ref) != "" {
		return openTopology(ref)
	}
	if data, err := book.ReadFile(ref + extension); err == nil && !isPart(ref) {
		return schema.Source{File: ref + extension, Data: data, BookOnly: true}, nil
	}
	data, err := os.ReadFile(ref)
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

// findExtended looks for what a file extends: another lab, or a part that
// several labs share. It is either of the book, or a file, whose name starts from
// the folder of the file that extends it.
func findExtended(from schema.Source, ref string) (schema.Source, error) {
	if data, err := book.ReadFile(ref + extension); err == nil {
		return schema.Source{File: ref + extension, Data: data, BookOnly: true}, nil
	}
	if from.BookOnly {
		return schema.Source{}, fmt.Errorf("%w %q: want a lab or part of the lab book", ErrNoLab, ref)
	}
	path := ref
	if !filepath.IsAbs(ref) {
		path = filepath.Join(from.Dir, ref)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return schema.Source{}, fmt.Errorf("%w %q: neither in the lab book nor the file %s", ErrNoLab, ref, path)
	}
	if err != nil {
		return schema.Source{}, fmt.Errorf("reading what the lab extends: %w", err)
	}
	return schema.Source{File: path, Dir: filepath.Dir(path), Data: data}, nil
}

// read reads a file and what is laid over it into a lab, and validates it.
func read(at schema.Source, over schema.Overrides, kinds port.Kinds) (*Lab, error) {
	r, err := schemaOf(kinds).Open(at, findExtended, over)
	if err != nil {
		return nil, err
	}
	if r.Broken() {
		return nil, r.Err()
	}
	r.Imply(topologyPath+".kind", topologies.OnFile, filePath)
	l := &Lab{Kinds: kinds}
	r.Decode(l)
	l.Name = cmp.Or(l.Name, nameOf(at.File))
	for i := range l.Background {
		if b := &l.Background[i]; !r.Has(backgroundKey + "." + b.Name + ".load") {
			b.Load = nil
		}
	}
	for i := range l.Schemes {
		expandGate(r, &l.Schemes[i])
	}
	if err := anchorFiles(r, l); err != nil {
		return nil, err
	}
	check(r, l)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return l, nil
}

// nameOf makes the name of a lab out of that of its file.
func nameOf(file string) string {
	base := strings.ToLower(filepath.Base(file))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Trim(strings.Map(func(r rune) rune {
		if schema.IsName(string(r)) {
			return r
		}
		return '-'
	}, base), "-")
	if !schema.IsName(name) {
		return "lab"
	}
	return name
}

func schemePath(name string) string { return schemesKey + "." + name }

// plainAQM goes with the short form of a scheme that names a gate of the
// ingress side as its aqm.
const plainAQM = "droptail"

// isGate tells whether the aqm of a scheme is short for a gate of the ingress
// side.
func isGate(name string) bool { return slices.Contains(port.Gates().Names(), name) }

// expandGate writes out the short form of a scheme.
func expandGate(r *schema.Reader, s *Scheme) {
	if !isGate(s.AQM.Kind) {
		return
	}
	if s.Ingress.Kind != "" || len(s.Ingress.Params) > 0 {
		r.Fail(schemePath(s.Name)+".ingress", "aqm: %s is short for aqm: %s with ingress: %s: want one of the two", s.AQM.Kind, plainAQM, s.AQM.Kind)
	}
	s.Ingress, s.AQM = s.AQM, kind.Choice{Kind: plainAQM}
}

// withFile is the parameters of a kind that may read a file, and their path.
type withFile struct {
	path   string
	params map[string]any
}

// mayReadFiles lists the parameters of all kinds that may read a file.
func (l *Lab) mayReadFiles() []withFile {
	all := []withFile{
		{workloadKey + ".sizes", l.Workload.Sizes.Params},
		{workloadKey + ".arrival", l.Workload.Arrival.Params},
		{distributionPath, l.RTT.Distribution.Params},
		{topologyPath, l.Topology.Params},
	}
	for _, b := range l.Background {
		path := backgroundKey + "." + b.Name
		all = append(all, withFile{path + ".sizes", b.Sizes.Params}, withFile{path + ".arrival", b.Arrival.Params})
	}
	return all
}

// Files lists the files, by absolute path, that the lab is read with beside its
// own: topology, sizes, traces, RTTs. What ships with aqmlab is none.
func (l *Lab) Files() []string {
	var files []string
	for _, c := range l.mayReadFiles() {
		if file, ok := c.params["file"].(string); ok && filepath.IsAbs(file) && !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}

// anchorFiles makes the names of files absolute, but for those of the book that
// are not in the folder of the lab's file.
func anchorFiles(r *schema.Reader, l *Lab) error {
	for _, c := range l.mayReadFiles() {
		name, ok := c.params["file"].(string)
		if !ok {
			continue
		}
		path := c.path + ".file"
		if path == filePath {
			if r.Overridden(path) && !r.Overridden(topologyPath+"."+topologies.DigestKey) {
				delete(c.params, topologies.DigestKey) // of the file that is overridden
			}
			folder := r.Folder(path)
			_, err := os.Stat(filepath.Join(folder, name))
			if slices.Contains(topologies.Book(), name) && (folder == "" || err != nil) {
				continue
			}
		}
		abs, err := r.Anchor(path, name)
		if err != nil {
			return err
		}
		c.params["file"] = abs
	}
	return nil
}
