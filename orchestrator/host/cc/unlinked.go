package cc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// mapHold is the struct_ops map itself, for kernels before Linux 6.4: its
// congestion control is registered from when its one element is written to when
// that is deleted, whoever has descriptors of it.
type mapHold struct{ ops *ebpf.Map }

var _ hold = mapHold{}

func (m mapHold) file(string) (*os.File, error) { return nil, ErrStays }
func (m mapHold) leave() error                  { return m.ops.Close() }
func (m mapHold) end() error                    { return errors.Join(unregister(m.ops), m.ops.Close()) }

// unregister deletes the element. If that was done before, the kernel says that
// it is still at it.
func unregister(ops *ebpf.Map) error {
	if err := ops.Delete(uint32(0)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return fmt.Errorf("unregister congestion control: %w", err)
	}
	return nil
}

// Name is the kernel's name of an eBPF congestion control that Acquire registers
// for a suffix.
func Name(suffix string) string { return namePrefix + suffix }

// Unregister takes a congestion control away that Acquire registered under that
// name and whose process is gone: before Linux 6.4 it stays behind. What is not
// registered is no error.
func Unregister(name string) error {
	has, err := kernelHas(name)
	if !has || err != nil {
		return err
	}
	for id := ebpf.MapID(0); ; {
		id, err = ebpf.MapGetNextID(id)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = unregisterMap(id, name)
		}
		if err != nil {
			return fmt.Errorf("take %s away: %w", name, err)
		}
	}
}

// unregisterMap does so if that map is the one.
func unregisterMap(id ebpf.MapID, name string) error {
	m, err := ebpf.NewMapFromID(id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has gone meanwhile
	}
	if err != nil {
		return err
	}
	defer m.Close()
	if m.Type() != ebpf.StructOpsMap || m.Flags()&flagLink != 0 {
		return nil
	}
	value := make([]byte, m.ValueSize())
	if err := m.Lookup(uint32(0), &value); err != nil {
		return err
	}
	if !bytes.Contains(value, append([]byte(name), 0)) {
		return nil
	}
	return unregister(m)
}
