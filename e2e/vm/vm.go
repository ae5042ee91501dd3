// Package vm runs a program under a distribution's own kernel, in QEMU, without
// root and without a disk image: the program, the kernel modules that it needs
// and any further files go into an initramfs, and an init of ours starts it.
//
// It is for what the machine's kernel lacks or must not be asked to do: to
// compare with the kernel's queueing disciplines, to run on a kernel that has
// netem and DCTCP. QEMU interprets (TCG), so no /dev/kvm is needed; a boot takes
// some seconds. With [Guest.VirtualTime] the guest's clock does not follow the
// host's, and a run repeats exactly.
package vm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"aqmlab/e2e/vm/guest"
)

// ErrUnavailable is wrapped by the errors for a machine that lacks QEMU or a
// kernel to boot.
var ErrUnavailable = errors.New("no virtual machine here")

// Guest is one run of a program in a machine of its own. Programs must be
// static, since the guest has no libraries.
type Guest struct {
	Init    string            // path on the host of the program aqmlab/e2e/vm/guest/init
	Program string            // path on the host of the program to run
	Args    []string          // its arguments
	Env     []string          // KEY=VALUE, beside PATH, HOME and [guest.Variable]
	Modules []string          // kernel modules to load first, by name; what they depend on is added
	Files   map[string]string // further files: path in the guest to path on the host
	Memory  int               // MiB; 512 when zero

	// VirtualTime makes the guest's clock count its instructions, one a
	// nanosecond, and jump over idle time. Sleeping then costs nothing, however
	// busy the host is, and the same guest does the same at the same time.
	VirtualTime bool
}

// Result is how a program ended.
type Result struct {
	Status int    // exit status, 128 and the signal's number for a killed program
	Output []byte // standard output and standard error, as they came
}

// defaultMemory holds a Debian kernel, a Go program and some hundred MiB of
// packets, in MiB.
const defaultMemory = 512

// Run boots a machine, runs the program in it and waits for its end. Errors mean
// that the program did not run to its end: the machine is not to be had here
// (wrapping [ErrUnavailable]), did not boot, or ctx ended. They quote the end of
// the kernel's console. A program that failed is no error.
func Run(ctx context.Context, g Guest) (Result, error) {
	m, err := Find()
	if err != nil {
		return Result{}, err
	}
	dir, err := os.MkdirTemp("", "aqmlab-vm-")
	if err != nil {
		return Result{}, fmt.Errorf("make a folder for the virtual machine: %w", err)
	}
	defer os.RemoveAll(dir)
	f := files{
		initramfs: filepath.Join(dir, "initramfs"),
		console:   filepath.Join(dir, "console"),
		report:    filepath.Join(dir, "report"),
	}
	if err := m.Kernel.pack(f.initramfs, g); err != nil {
		return Result{}, fmt.Errorf("pack the initramfs: %w", err)
	}
	output, err := m.boot(ctx, f, g)
	if err != nil {
		return Result{}, fmt.Errorf("run %s in a virtual machine: %w%s", filepath.Base(g.Program), err, f.consoleTail())
	}
	r, err := f.read()
	if err != nil {
		return Result{}, fmt.Errorf("run %s in a virtual machine: %w%s", filepath.Base(g.Program), err, f.consoleTail())
	}
	return Result{Status: r.Status, Output: output}, nil
}

// files are how host and guest talk to each other.
type files struct {
	initramfs string
	console   string // of the kernel
	report    string // of the init
}

// read is the init's report.
func (f files) read() (guest.Report, error) {
	var r guest.Report
	text, err := os.ReadFile(f.report)
	if err != nil {
		return r, fmt.Errorf("read the guest's report: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, errors.New("the guest went down without a report")
	}
	if r.Error != "" {
		return r, fmt.Errorf("in the guest: %s", r.Error)
	}
	return r, nil
}

// tailSize is how much of the console an error quotes, in bytes.
const tailSize = 2000

// consoleTail is the end of the kernel's console, for an error.
func (f files) consoleTail() string {
	text, err := os.ReadFile(f.console)
	text = bytes.TrimSpace(text[max(len(text)-tailSize, 0):])
	if err != nil || len(text) == 0 {
		return "" // QEMU did not get that far; the error says why
	}
	return "\nthe kernel's console ends with:\n" + string(text)
}
