package vm

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// qemu is the emulator's program.
const qemu = "qemu-system-x86_64"

// Machine is what a guest runs on.
type Machine struct {
	QEMU   string // path of the emulator
	Kernel Kernel
}

// Kernel is an installed kernel for amd64.
type Kernel struct {
	Release string // as uname -r prints it
	Image   string // path of the bootable image
	Modules string // folder of the modules and of the lists that depmod made
}

// Find looks for the emulator and a kernel. Errors wrap [ErrUnavailable] and
// name Debian's packages to install.
func Find() (Machine, error) {
	path, err := exec.LookPath(qemu)
	if err != nil {
		return Machine{}, fmt.Errorf("%w: %s is missing (Debian's package qemu-system-x86)", ErrUnavailable, qemu)
	}
	k, err := findKernel("/")
	return Machine{path, k}, err
}

// findKernel takes the kernel that was installed last of those below a root
// folder that can be read and have their modules.
func findKernel(root string) (Kernel, error) {
	var found Kernel
	var newest int64
	folders, err := filepath.Glob(filepath.Join(root, "lib/modules/*-amd64"))
	if err != nil {
		return found, fmt.Errorf("list kernels: %w", err)
	}
	var unreadable error
	for _, modules := range folders {
		release := filepath.Base(modules)
		image := filepath.Join(root, "boot/vmlinuz-"+release)
		if err := readable(image, filepath.Join(modules, "modules.dep")); err != nil {
			unreadable = err
			continue
		}
		var st unix.Stat_t
		if err := unix.Stat(image, &st); err == nil && st.Mtim.Nano() > newest {
			found, newest = Kernel{release, image, modules}, st.Mtim.Nano()
		}
	}
	if found.Image == "" {
		if unreadable == nil {
			unreadable = errors.New("none is installed")
		}
		return found, fmt.Errorf("%w: no kernel to boot: %w (Debian's package linux-image-amd64)", ErrUnavailable, unreadable)
	}
	return found, nil
}

func readable(paths ...string) error {
	for _, p := range paths {
		if err := unix.Access(p, unix.R_OK); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return nil
}
