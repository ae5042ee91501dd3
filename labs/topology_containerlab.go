package labs

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aqmlab/kind"
	"aqmlab/labs/clab"
)

// onFile is the kind of a topology that a file describes.
const onFile = "containerlab"

const (
	filePath  = topologyPath + "." + fileKey
	fileKey   = "file"
	digestKey = "sha256"
)

// containerlab is the network of a containerlab file: its nodes keep their
// names, and hosts and links their order. What a link does not say of itself is
// as the lab has it.
type containerlab struct {
	File   string `lab:"file" doc:"a containerlab file; a relative name starts from the lab file's folder, or is one of the lab book"`
	SHA256 string `lab:"sha256" doc:"what the file's SHA-256 must be, in hexadecimal; written by aqmlab, so that results say which network they are of"`
}

//go:embed topologies/*.clab.yml
var topologies embed.FS

func newContainerlab(p containerlab, _ TopologyEnv) (Layout, error) {
	if p.File == "" {
		return Layout{}, kind.Invalid(fileKey, "missing: want the name of a containerlab file, such as %s", bookTopologies()[0])
	}
	data, err := readTopology(p.File)
	if err != nil {
		return Layout{}, kind.Invalid(fileKey, "%w", err)
	}
	t, err := clab.Parse(data)
	if err != nil {
		return Layout{}, kind.Invalid(fileKey, "reading %s: %w", p.File, err)
	}
	l, err := layOut(t)
	if err != nil {
		return Layout{}, kind.Invalid(fileKey, "%s: %w", p.File, err)
	}
	sum := sha256.Sum256(data)
	l.Digest = hex.EncodeToString(sum[:])
	if p.SHA256 != "" && p.SHA256 != l.Digest {
		return Layout{}, kind.Invalid(digestKey, "%s has changed: want it as it was, or %s, or leave the key out", p.File, l.Digest)
	}
	return l, nil
}

// readTopology reads a file, or one of the book where the name is not absolute.
func readTopology(name string) ([]byte, error) {
	if filepath.IsAbs(name) {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading a topology: %w", err)
		}
		return data, nil
	}
	data, err := topologies.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("reading a topology: %w", kind.Unknown("file", name, bookTopologies()))
	}
	return data, nil
}

// bookTopologies lists the containerlab files of the lab book.
func bookTopologies() []string {
	const dir = "topologies"
	files, err := topologies.ReadDir(dir)
	if err != nil {
		panic(fmt.Sprintf("a folder of an embedded file system: %v", err))
	}
	var names []string
	for _, f := range files {
		names = append(names, dir+"/"+f.Name())
	}
	return names
}

// implyKind makes a file the topology's kind, unless another is set beside it or
// by a layer above.
func (r *reader) implyKind() {
	kindPath := join(topologyPath, "kind")
	if _, beside := r.values[kindPath]; !beside && r.values[filePath] != nil {
		r.values[kindPath], r.lines[kindPath] = onFile, r.lines[filePath]
	}
	switch {
	case r.origins[kindPath] != "":
	case r.origins[filePath] != "":
		r.merged.Set(kindPath, onFile)
		r.origins[kindPath] = r.origins[filePath]
	case r.values[filePath] != nil:
		r.merged.Set(kindPath, r.values[kindPath])
	}
}

// anchorTopology makes the name of the topology's file absolute, but for one of
// the book that is not in dir, the lab file's folder.
func (r *reader) anchorTopology(params map[string]any, dir string) error {
	name, ok := params[fileKey].(string)
	if !ok {
		return nil
	}
	if r.origins[filePath] != "" {
		dir = "." // where the user is
		if r.origins[join(topologyPath, digestKey)] == "" {
			delete(params, digestKey) // of the file that is overridden
		}
	}
	_, err := os.Stat(filepath.Join(dir, name))
	if slices.Contains(bookTopologies(), name) && (dir == "" || err != nil) {
		return nil
	}
	return r.anchorFile(topologyPath, params, dir)
}

// layOutFile lays out the topology of a file, and blames the file's own lines
// for what is wrong with it.
func (r *reader) layOutFile(t *Topology, params map[string]any) (Layout, error) {
	layout, err := Topologies().New(onFile, params, TopologyEnv{Rate: t.Rate})
	var wrong clab.Errors
	switch {
	case errors.As(err, &wrong):
		file, _ := params[fileKey].(string) // it was read
		r.errs = append(r.errs, fromClab(file, wrong)...)
		r.failed[filePath] = true
	case err == nil:
		t.laid, t.Params[digestKey] = &layout, layout.Digest
		r.referenceRate(t)
	}
	return layout, err
}

// fromClab names the file in what is wrong with it.
func fromClab(file string, wrong clab.Errors) Errors {
	var errs Errors
	for _, e := range wrong {
		errs = append(errs, &Error{Source: file, Line: e.Line, Key: e.Field, Err: e.Err})
	}
	return errs
}

// referenceRate is what loads are relative to, unless the lab sets it: the rate
// of the slowest link.
func (r *reader) referenceRate(t *Topology) {
	if t.Rate > 0 || !r.sound("topology.rate") {
		return
	}
	slower := func(a, b clab.Traits) int { return cmp.Compare(a.Rate, b.Rate) }
	if t.Rate = slices.MinFunc(t.laid.links(), slower).Rate; t.Rate == 0 {
		r.fail("topology.rate", "missing: want a rate such as 10Gbps, for the links of topology.file that do not say theirs")
	}
}
