package guest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// mountAll mounts what programs on Linux expect. The initramfs itself is
// writable.
func mountAll() error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"},
		{"sysfs", "/sys"},
		{"devtmpfs", "/dev"},
		{"tmpfs", "/run"},
		{"tmpfs", "/tmp"},
		{"bpf", "/sys/fs/bpf"},
		{"cgroup2", "/sys/fs/cgroup"},
		{"tracefs", "/sys/kernel/tracing"},
	} {
		// In sysfs the kernel has made the folders.
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return fmt.Errorf("mount %s: %w", m.kind, err)
		}
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s at %s: %w", m.kind, m.at, err)
		}
	}
	return nil
}

func loadModule(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("load a module: %w", err)
	}
	defer f.Close()
	if err := unix.FinitModule(int(f.Fd()), "", 0); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("load %s: %w", path, err)
	}
	return nil
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring lo up: %w", err)
	}
	return nil
}
