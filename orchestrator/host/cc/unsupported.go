package cc

import (
	"errors"
	"fmt"
	"os"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"golang.org/x/sys/unix"
)

// Requirement is something that a transport needs of the machine.
type Requirement string

const (
	// NeedModule is a congestion control of the kernel's own.
	NeedModule Requirement = "congestion control in the kernel"
	// NeedBTF is the kernel's description of its own types.
	NeedBTF Requirement = "kernel type information (BTF)"
	// NeedPrivilege is the right to load BPF programs and to change the network.
	NeedPrivilege Requirement = "capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN"
	// NeedStructOps is the kernel's interface for congestion controls in BPF.
	NeedStructOps Requirement = "BPF struct_ops links (Linux 6.4)"
)

// UnsupportedError says what a transport misses on this machine and what to do
// about it. It is [errors.ErrUnsupported].
type UnsupportedError struct {
	Transport string
	Missing   Requirement
	Remedy    string
	Err       error // what the kernel said, or nil
}

// Error is one line.
func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("no %s here: %s is missing; %s", e.Transport, e.Missing, e.Remedy)
	if e.Err != nil {
		text += fmt.Sprintf(" (%v)", e.Err)
	}
	return text
}

// Unwrap returns what the kernel said.
func (e *UnsupportedError) Unwrap() error { return e.Err }

// Is makes the error match [errors.ErrUnsupported].
func (e *UnsupportedError) Is(target error) bool { return target == errors.ErrUnsupported }

func (a algorithm) missingModule() error {
	return &UnsupportedError{
		Transport: a.transport,
		Missing:   NeedModule,
		Remedy:    fmt.Sprintf("run 'modprobe tcp_%s' on the host, or choose a transport that 'aqmlab doctor' lists", a.kernel),
	}
}

const btfPath = "/sys/kernel/btf/vmlinux"

// explain turns a failure to load or register our programs into what is
// missing, in the order in which the kernel would stumble over it. Failures
// that are nobody's lack come back as they are.
func (a algorithm) explain(err error) error {
	unsupported := &UnsupportedError{Transport: a.transport, Err: err}
	other := fmt.Sprintf("or 'modprobe tcp_%s' on the host", a.kernel)
	_, noBTF := os.Stat(btfPath)
	switch {
	case errors.Is(err, unix.EPERM):
		unsupported.Missing = NeedPrivilege
		unsupported.Remedy = "run as root, in a container with these capabilities, " + other
	case noBTF != nil:
		unsupported.Missing = NeedBTF
		unsupported.Remedy = "use a kernel built with CONFIG_DEBUG_INFO_BTF, " + other
	case errors.Is(err, ebpf.ErrNotSupported) || olderThanLinks():
		unsupported.Missing = NeedStructOps
		unsupported.Remedy = "use Linux 6.4 or later with CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT, " + other
	default:
		return err
	}
	return unsupported
}

// olderThanLinks reports whether the kernel came before Linux 6.4. It only
// words an error that has already happened.
func olderThanLinks() bool {
	const linux6_4 = 6<<16 | 4<<8
	version, err := features.LinuxVersionCode()
	return err == nil && version < linux6_4
}
