package kernelaqm

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go -target bpfel,bpfeb -no-global-types -type event -cflags "-O2 -g -Wall -Wextra -Wno-unused-parameter -Werror" qdisc qdisc.bpf.c

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
)

// recorder holds the programs of one discipline in the kernel.
type recorder struct {
	programs *ebpf.Collection
	links    []link.Link
}

// attach starts to record every queue of that kind of discipline, whose module
// must be loaded.
func attach(kind string) (*recorder, error) {
	spec, err := loadQdisc()
	if err != nil {
		return nil, err
	}
	// Those of the other disciplines would need the other modules.
	maps.DeleteFunc(spec.Programs, func(name string, _ *ebpf.ProgramSpec) bool { return !strings.HasPrefix(name, kind+"_") })
	if err := aim(spec); err != nil {
		return nil, err
	}
	programs, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, fmt.Errorf("load the programs that record %s: %w", kind, err)
	}
	r := &recorder{programs: programs}
	for name, p := range programs.Programs {
		l, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("attach %s: %w", name, err), r.close())
		}
		r.links = append(r.links, l)
	}
	return r, nil
}

// aim finds the functions in which the kernel's CoDel and FQ-CoDel decide. Newer kernels
// have such of their own, because they also decide when a parent peeks.
func aim(spec *ebpf.CollectionSpec) error {
	for program, at := range map[string]struct{ module, function string }{
		qdiscProgCodelDeparture:   {"sch_codel", "__codel_qdisc_dequeue"},
		qdiscProgFqCodelDeparture: {"sch_fq_codel", "__fq_codel_dequeue"},
	} {
		p, ok := spec.Programs[program]
		if !ok {
			continue
		}
		types, err := typesOf(at.module)
		if err != nil {
			return fmt.Errorf("read the types of %s: %w", at.module, err)
		}
		var f *btf.Func
		switch err := types.TypeByName(at.function, &f); {
		case err == nil:
			p.AttachTo = at.function
		case !errors.Is(err, btf.ErrNotFound):
			return fmt.Errorf("read the types of %s: %w", at.module, err)
		}
	}
	return nil
}

// typesOf is the types of a module, or of the kernel that it is a part of.
func typesOf(module string) (*btf.Spec, error) {
	types, err := btf.LoadKernelModuleSpec(module)
	if errors.Is(err, os.ErrNotExist) {
		return btf.LoadKernelSpec()
	}
	return types, err
}

func (r *recorder) close() error {
	defer r.programs.Close()
	var err error
	for _, l := range r.links {
		err = errors.Join(err, l.Close())
	}
	return err
}

// events takes what has been recorded. That some was lost is an error.
func (r *recorder) events() ([]Event, error) {
	var lost uint64
	if err := r.programs.Variables[qdiscVarLost].Get(&lost); err != nil {
		return nil, fmt.Errorf("read the recorder's counter: %w", err)
	}
	if lost > 0 {
		return nil, fmt.Errorf("the recorder is full: %d events are lost", lost)
	}
	reader, err := ringbuf.NewReader(r.programs.Maps[qdiscMapEvents])
	if err != nil {
		return nil, fmt.Errorf("open the recorder: %w", err)
	}
	defer reader.Close()
	reader.SetDeadline(time.Unix(1, 0)) // past: do not wait for more
	var events []Event
	for {
		record, err := reader.Read()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the recorder: %w", err)
		}
		var e qdiscEvent
		if len(record.RawSample) < int(unsafe.Sizeof(e)) {
			return nil, fmt.Errorf("read the recorder: an event of %d bytes", len(record.RawSample))
		}
		events = append(events, newEvent(*(*qdiscEvent)(unsafe.Pointer(&record.RawSample[0]))))
	}
}
