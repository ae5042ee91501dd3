package cc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const availablePath = "/proc/sys/net/ipv4/tcp_available_congestion_control"

// kernelHas reports whether the congestion control is registered.
func kernelHas(name string) (bool, error) {
	text, err := os.ReadFile(availablePath)
	if err != nil {
		return false, fmt.Errorf("list the kernel's congestion controls: %w", err)
	}
	return slices.Contains(strings.Fields(string(text)), name), nil
}

// kernelHasOrLoads is kernelHas after the kernel had a chance to load the
// module. That there is none, or no right to load it, is no error.
func kernelHasOrLoads(name string) (bool, error) {
	if has, err := kernelHas(name); has || err != nil {
		return has, err
	}
	if err := askFor(name); err != nil {
		return false, err
	}
	return kernelHas(name)
}

// askFor sets the congestion control on a socket that is thrown away. The
// kernel answers a name it does not know by loading the module tcp_NAME itself,
// which also works from a container that has no modprobe.
func askFor(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open a socket to ask for congestion control %q: %w", name, err)
	}
	// Refusals are seen in the kernel's list; nothing hangs on this socket.
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
	return unix.Close(fd)
}

// isBPF reports whether DCTCP of that name, which is registered, comes from eBPF. Any
// process may choose ours, which tells nothing of itself. The kernel's own tells even of
// a socket without a connection that it is in use, and is refused to those without
// rights.
func isBPF(name string) (is bool, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open a socket to ask about congestion control %q: %w", name, err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	switch err := unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name); {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EBUSY): // it has gone meanwhile, as the kernel's does not
		return true, nil
	case err != nil:
		return false, nil
	}
	info, err := unix.GetsockoptTCPCCDCTCPInfo(fd, unix.IPPROTO_TCP, unix.TCP_CC_INFO)
	if err != nil {
		return false, fmt.Errorf("getsockopt TCP_CC_INFO: %w", err)
	}
	return info.Enabled == 0, nil
}

// hasModule reports whether the running kernel's module tree has the module.
func hasModule(name string) (bool, error) {
	var uts unix.Utsname
	if err := unix.Uname(&uts); err != nil {
		return false, fmt.Errorf("find the kernel's release: %w", err)
	}
	path := filepath.Join("/lib/modules", unix.ByteSliceToString(uts.Release[:]), "modules.dep")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the kernel's modules: %w", err)
	}
	return listsModule(string(text), name), nil
}

// listsModule looks for a module among the lines "path/name.ko[.xz]: needs".
func listsModule(modulesDep, name string) bool {
	for line := range strings.Lines(modulesDep) {
		path, _, _ := strings.Cut(line, ":")
		base, _, _ := strings.Cut(filepath.Base(path), ".")
		if base == name {
			return true
		}
	}
	return false
}

// duplicateFile returns a second descriptor of the same open file.
func duplicateFile(fd int, name string) (*os.File, error) {
	dup, err := duplicate(fd)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return os.NewFile(uintptr(dup), name), nil
}

func duplicate(fd int) (int, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("duplicate descriptor: %w", err)
	}
	return dup, nil
}
