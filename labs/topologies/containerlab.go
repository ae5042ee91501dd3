package topologies

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/bounded"
	"aqmlab/kind"
	"aqmlab/labs/clab"
)

// OnFile is the kind of a topology that a file describes.
const OnFile = "containerlab"

// The parameters of [OnFile].
const (
	FileKey   = "file"
	DigestKey = "sha256"
)

// containerlab is the network of a containerlab file: its nodes keep their
// names, and hosts and links their order. What a link does not say of itself is
// as the lab has it.
type containerlab struct {
	File   string `lab:"file" doc:"a containerlab file; a relative name starts from the lab file's folder, or is one of the lab book"`
	SHA256 string `lab:"sha256" doc:"what the file's SHA-256 must be, in hexadecimal; written by aqmlab, so that results say which network they are of"`
}

//go:embed *.clab.yml
var book embed.FS

func newContainerlab(p containerlab, env Env) (Layout, error) {
	if p.File == "" {
		return Layout{}, kind.Invalid(FileKey, "missing: want the name of a containerlab file, such as %s", Book()[0])
	}
	data, err := readTopology(p.File)
	if err != nil {
		return Layout{}, kind.Invalid(FileKey, "%w", err)
	}
	t, err := env.parse(p.File, data)
	if err != nil {
		return Layout{}, kind.Invalid(FileKey, "reading %s: %w", p.File, err)
	}
	l, err := layOut(t)
	if err != nil {
		return Layout{}, kind.Invalid(FileKey, "%s: %w", p.File, err)
	}
	sum := sha256.Sum256(data)
	l.Digest = hex.EncodeToString(sum[:])
	if p.SHA256 != "" && p.SHA256 != l.Digest {
		return Layout{}, kind.Invalid(DigestKey, "%s has changed: want it as it was, or %s, or leave the key out", p.File, l.Digest)
	}
	return l, nil
}

// layOut is the layout of a containerlab file.
func layOut(t *clab.Topology) (Layout, error) {
	l := Layout{}
	place := make([]int, len(t.Nodes)) // of switches and of hosts, each counted from 0
	for i, n := range t.Nodes {
		if n.Switch {
			place[i] = len(l.Switches)
			l.Switches = append(l.Switches, n.Name)
		} else {
			place[i] = len(l.Names)
			l.Names = append(l.Names, n.Name)
		}
	}
	if len(l.Names) > maxHosts {
		return Layout{}, fmt.Errorf("%d hosts: want at most %d", len(l.Names), maxHosts)
	}
	l.Racks, l.Access = make([]int, len(l.Names)), make([]clab.Traits, len(l.Names))
	access, trunks := make([][2]string, len(l.Names)), [][2]string{}
	for _, link := range t.Links {
		a, b := link.A, link.B
		if !t.Nodes[b.Node].Switch {
			a, b = b, a
		}
		if t.Nodes[a.Node].Switch {
			l.Trunks = append(l.Trunks, Trunk{place[link.A.Node], place[link.B.Node], link.Traits})
			trunks = append(trunks, [2]string{link.A.Interface, link.B.Interface})
			continue
		}
		host := place[a.Node]
		l.Racks[host], l.Access[host] = place[b.Node], link.Traits
		access[host] = [2]string{a.Interface, b.Interface}
	}
	l.Interfaces = slices.Concat(access, trunks)
	p, err := l.longest(0)
	l.Hops = p.hops
	return l, err
}

// readTopology reads a file, or one of the book where the name is not absolute.
func readTopology(name string) ([]byte, error) {
	if filepath.IsAbs(name) {
		data, err := bounded.ReadFile(name, clab.MaxFile)
		if err != nil {
			return nil, fmt.Errorf("reading a topology: %w", err)
		}
		return data, nil
	}
	data, err := InBook(name)
	if err != nil {
		return nil, fmt.Errorf("reading a topology: %w", kind.Unknown("file", name, Book()))
	}
	return data, nil
}

// folder is that of this package, and of the names of the book.
const folder = "topologies/"

// InBook is the containerlab file of that name of the lab book.
func InBook(name string) ([]byte, error) {
	base, ok := strings.CutPrefix(name, folder)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return book.ReadFile(base)
}

// Book lists the containerlab files of the lab book.
func Book() []string {
	files, err := book.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("a folder of an embedded file system: %v", err))
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = folder + f.Name()
	}
	return names
}
