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
	// NeedModel is a transport that real hosts do not speak.
	NeedModel Requirement = "a kernel that provides it"
	// NeedBTF is the kernel's description of its own types.
	NeedBTF Requirement = "kernel type information (BTF)"
	// NeedPrivilege is the right to load BPF programs and to change the network.
	NeedPrivilege Requirement = "capabilities CAP_BPF, CAP_PERFMON and CAP_NET_ADMIN"
	// NeedStructOps is the kernel's interface for congestion controls in BPF.
	NeedStructOps Requirement = "BPF struct_ops (Linux 6.1)"
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
		Transport: a.Name,
		Missing:   NeedModule,
		Remedy:    fmt.Sprintf("run 'modprobe tcp_%s' on the host, or choose another transport", a.kernel),
	}
}

func (a algorithm) onlyModelled() error {
	return &UnsupportedError{
		Transport: a.Name,
		Missing:   NeedModel,
		Remedy:    "only modelled hosts speak it: run the lab with --runtime sim, or choose another transport",
	}
}

// machine is what decides between the reasons for a refusal.
type machine struct {
	btf     bool
	version uint32 // LINUX_VERSION_CODE, or 0 if unknown
}

// Versions that our programs depend on.
const (
	linux6_1 = 6<<16 | 1<<8 // the oldest that they have run on
	linux6_4 = 6<<16 | 4<<8 // struct_ops links
)

// links tells whether the kernel has struct_ops links, which one of an unknown
// version is taken to have.
func (m machine) links() bool { return m.version == 0 || m.version >= linux6_4 }

const btfPath = "/sys/kernel/btf/vmlinux"

func thisMachine() machine {
	_, err := os.Stat(btfPath)
	// Without a version the reason is worded less well, no more.
	version, _ := features.LinuxVersionCode()
	return machine{btf: err == nil, version: version}
}

// explain turns the kernel's refusal of our programs into what is missing, in
// the order in which loading would stumble over it. An error that comes from no
// lack is returned as it is.
func (a algorithm) explain(err error, m machine) error {
	unsupported := &UnsupportedError{Transport: a.Name, Err: err}
	other := fmt.Sprintf(", or run 'modprobe tcp_%s' on the host", a.kernel)
	if a.lossByAlpha() {
		other = ", or have a loss halve the window (on_loss: half)"
	}
	if a.Instead != "" {
		other += fmt.Sprintf(", or have hosts speak another transport (host.transport: %s)", a.Instead)
	}
	switch {
	case !m.btf:
		unsupported.Missing = NeedBTF
		unsupported.Remedy = "use a kernel built with CONFIG_DEBUG_INFO_BTF" + other
	case errors.Is(err, unix.EPERM):
		unsupported.Missing, unsupported.Err = NeedPrivilege, unix.EPERM // the rest is a guess at memory
		unsupported.Remedy = "run as root, in a container with these capabilities added" + other
	case errors.Is(err, ebpf.ErrNotSupported), m.version != 0 && m.version < linux6_1:
		unsupported.Missing = NeedStructOps
		unsupported.Remedy = "use Linux 6.1 or later with CONFIG_BPF_SYSCALL and CONFIG_BPF_JIT" + other
	default:
		return err
	}
	return unsupported
}
