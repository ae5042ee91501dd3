package cc

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel,bpfeb -no-global-types -type state -cflags "-O2 -g -Wall -Wextra -Wno-unused-parameter -Werror" dctcp dctcp.bpf.c

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
)

const (
	// nameMax is the kernel's TCP_CA_NAME_MAX, the final NUL included.
	nameMax    = 16
	namePrefix = "dctcp_"
	suffixMax  = nameMax - len(namePrefix) - 1
)

// registration is a congestion control of ours in the kernel.
type registration struct {
	hold   hold
	states *ebpf.Map
}

// hold is what keeps a congestion control registered.
type hold interface {
	// file returns a descriptor that keeps it registered while it is open, or
	// ErrStays.
	file(name string) (*os.File, error)
	// leave lets go. It stays registered if another descriptor keeps it, or if
	// none is needed.
	leave() error
	// end takes it away, unless another descriptor keeps it.
	end() error
}

// linkHold is a link: the kernel itself takes the congestion control away with
// its last descriptor. It needs Linux 6.4.
type linkHold struct{ link linkFD }

type linkFD interface {
	link.Link
	FD() int
}

var _ hold = linkHold{}

func (l linkHold) file(name string) (*os.File, error) {
	return duplicateFile(l.link.FD(), name+" link")
}
func (l linkHold) leave() error { return l.link.Close() }
func (l linkHold) end() error   { return l.link.Close() }

// uniqueName is the name of a lab's own DCTCP.
func uniqueName(suffix string) (string, error) {
	allowed := func(r rune) bool { // in the name of a BPF object
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '.'
	}
	refused := strings.ContainsFunc(suffix, func(r rune) bool { return !allowed(r) })
	if suffix == "" || len(suffix) > suffixMax || refused {
		return "", fmt.Errorf("suffix %q: want 1 to %d letters, digits, underscores or dots", suffix, suffixMax)
	}
	return namePrefix + suffix, nil
}

// variant is how the programs are loaded.
type variant struct {
	linked      bool // the registration is a link; else it lasts until it is unregistered
	lossByAlpha bool // a loss takes of the window what a mark would, not half
	// mark is the name of the struct_ops map, by which others recognise it; its own
	// without.
	mark string
}

// register puts the programs in the kernel and offers them to sockets by name.
func register(name string, v variant) (*registration, error) {
	objects, err := load(name, v)
	if err != nil {
		return nil, err
	}
	r, err := attach(objects, name, v.linked)
	// The hold keeps the struct_ops map in the kernel, and that the programs.
	closed := objects.Close()
	if err != nil {
		return nil, errors.Join(err, closed)
	}
	if closed != nil {
		return nil, errors.Join(closed, r.close())
	}
	return r, nil
}

func attach(objects *dctcpObjects, name string, linked bool) (*registration, error) {
	states, err := objects.DctcpStates.Clone()
	if err != nil {
		return nil, fmt.Errorf("keep the map of DCTCP states: %w", err)
	}
	h, err := holdOf(objects, linked)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("register congestion control %q: %w", name, err), states.Close())
	}
	return &registration{h, states}, nil
}

func holdOf(objects *dctcpObjects, linked bool) (hold, error) {
	if !linked {
		ops, err := objects.Dctcp.Clone()
		return mapHold{ops}, err
	}
	l, err := link.AttachStructOps(link.StructOpsOptions{Map: objects.Dctcp})
	if err != nil {
		return nil, err
	}
	return linkHold{l.(linkFD)}, nil
}

// load hands the programs to the kernel's verifier. What is not to be linked is
// registered with that.
func load(name string, v variant) (*dctcpObjects, error) {
	spec, err := loadDctcp()
	if err != nil {
		return nil, fmt.Errorf("read embedded DCTCP: %w", err)
	}
	ops := spec.Maps[dctcpMapDctcp]
	if err := rename(ops, name); err != nil {
		return nil, err
	}
	if !v.linked {
		ops.Flags &^= flagLink
	}
	ops.Name = cmp.Or(v.mark, ops.Name)
	if err := spec.Variables[dctcpVarLossByAlpha].Set(v.lossByAlpha); err != nil {
		return nil, fmt.Errorf("embedded DCTCP: %w", err)
	}
	var objects dctcpObjects
	if err := spec.LoadAndAssign(&objects, nil); err != nil {
		return nil, fmt.Errorf("load DCTCP: %w", err)
	}
	return &objects, nil
}

// verify loads the programs alone, and drops them again.
func verify() error {
	spec, err := loadDctcp()
	if err != nil {
		return fmt.Errorf("read embedded DCTCP: %w", err)
	}
	var programs dctcpPrograms
	if err := spec.LoadAndAssign(&programs, nil); err != nil {
		return fmt.Errorf("load DCTCP: %w", err)
	}
	if err := programs.Close(); err != nil {
		return fmt.Errorf("unload DCTCP: %w", err)
	}
	return nil
}

// rename writes the name into the tcp_congestion_ops that will be registered.
func rename(ops *ebpf.MapSpec, name string) error {
	layout, ok := btf.As[*btf.Struct](ops.Value)
	if !ok || len(ops.Contents) != 1 {
		return fmt.Errorf("embedded DCTCP: map %s is no struct_ops", ops.Name)
	}
	i := slices.IndexFunc(layout.Members, func(m btf.Member) bool { return m.Name == "name" })
	value, ok := ops.Contents[0].Value.([]byte)
	if i < 0 || !ok {
		return fmt.Errorf("embedded DCTCP: struct_ops %s has no name to set", ops.Name)
	}
	field := value[layout.Members[i].Offset.Bytes():][:nameMax]
	clear(field)
	copy(field[:nameMax-1], name)
	return nil
}

func (r *registration) close() error { return errors.Join(r.hold.end(), r.states.Close()) }

func (r *registration) leave() error { return errors.Join(r.hold.leave(), r.states.Close()) }

// flagLink is BPF_F_LINK of linux/bpf.h: a struct_ops map that registers nothing
// by itself.
const flagLink = 1 << 13
