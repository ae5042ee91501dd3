package host

import (
	"os"

	"golang.org/x/sys/unix"
)

// firstUserNamespace is the inode of the user namespace that a kernel begins with
// (PROC_USER_INIT_INO of linux/proc_ns.h).
const firstUserNamespace = 0xEFFFFFFD

// InUserNamespace tells whether this process is in a user namespace. Its root may do
// there what concerns the namespaces that it has made, and nothing else.
func InUserNamespace() bool {
	var own unix.Stat_t
	return unix.Stat("/proc/self/ns/user", &own) == nil && own.Ino != firstUserNamespace
}

// IsRoot tells whether this process is root of the machine, or of its container.
func IsRoot() bool { return os.Geteuid() == 0 && !InUserNamespace() }

// PresetReceive has devices that are made in the calling thread's namespace from now
// on process what they receive on the given CPUs, as [SteerReceive] does, which root of
// a user namespace may not. Before Linux 6.3 nothing is to be set, and the CPU that
// delivers a frame runs the receiver's stack.
func PresetReceive(cpus []int) error {
	return Setting{Key: "net.core.rps_default_mask", Value: cpuMask(cpus)}.SetIfThere()
}
