package uml

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// options are what is on in the guest kernel; all else that can be off is
// (make allnoconfig), which makes it build and boot fast.
var options = [...]string{
	"64BIT",
	"UML_TIME_TRAVEL_SUPPORT",
	"HIGH_RES_TIMERS",
	// Local variables are not cleared first: of some there are 12 KB (edits.yaml).
	"INIT_STACK_NONE",
	"NO_HZ_IDLE",
	// Nobody waits for randomness, of which there is none; see edits.yaml. Linux 6.2 and
	// later do so without being told.
	"RANDOM_TRUST_BOOTLOADER", "RANDOM_TRUST_CPU",
	// The console, and the host's folder as root file system.
	"STDERR_CONSOLE", "NULL_CHAN", "HOSTFS",
	// What a Go program wants.
	"BINFMT_ELF", "MULTIUSER", "PROC_FS", "PROC_SYSCTL", "SYSFS", "TMPFS", "DEVTMPFS", "UNIX",
	// Hosts, links and what the switch listens with.
	"NAMESPACES", "NET", "NET_NS", "PACKET", "INET", "NETDEVICES", "NET_CORE", "VETH",
	"NET_SCHED", "NET_SCH_TBF", "NET_SCH_NETEM", "NET_SCH_FQ",
	// Hosts that hold packets back by themselves (netem).
	"MACVLAN", "NET_SCH_HTB", "NET_SCH_INGRESS", "NET_CLS_BPF", "NET_CLS_ACT", "BPF_SYSCALL",
	"INET_DIAG", "TCP_CONG_ADVANCED", "TCP_CONG_CUBIC", "TCP_CONG_DCTCP",
	// What the programs of labs want: the machine's root below a scratch layer, and what
	// Debian's servers use.
	"OVERLAY_FS", "BINFMT_SCRIPT", "EPOLL", "EVENTFD", "SIGNALFD", "TIMERFD", "FUTEX", "AIO", "SHMEM", "POSIX_TIMERS",
	"FILE_LOCKING", "INOTIFY_USER", "ADVISE_SYSCALLS", "MEMBARRIER", "SYSVIPC", "POSIX_MQUEUE", "UNIX98_PTYS",
	"TMPFS_XATTR", "IPV6", "INET_UDP_DIAG",
}

// linking is how the kernel is linked: it needs no C library of the machine that it runs
// on. That changes nothing in a guest, so it is no part of the recipe.
const linking = "STATIC_LINK"

// stackOrder is the kernel's stack in powers of two of pages: one more than the
// default, for the larger floating-point state of [edits].
const stackOrder = 3

// configText is the configuration of what guests see.
func configText() string {
	var b strings.Builder
	for _, o := range options {
		fmt.Fprintf(&b, "CONFIG_%s=y\n", o)
	}
	fmt.Fprintf(&b, "CONFIG_KERNEL_STACK_ORDER=%d\n", stackOrder)
	return b.String()
}

// allConfig is the kernel's configuration, for make's KCONFIG_ALLCONFIG.
func allConfig() string { return configText() + "CONFIG_" + linking + "=y\n" }

// missing lists the options that a written .config does not have: other kernels
// may have renamed them, or want more.
func (v version) missing(config string) []string {
	on := make(map[string]bool)
	for line := range strings.Lines(config) {
		on[strings.TrimSpace(line)] = true
	}
	var off []string
	for _, o := range append(options[:], linking) {
		if !on["CONFIG_"+o+"=y"] && !slices.Contains(v.gone, o) {
			off = append(off, o)
		}
	}
	return off
}

// recipe is eight hexadecimal digits that change with the configuration and
// the edits of a version: a kernel of another recipe is out of date.
func (v version) recipe() string {
	h := sha256.New()
	fmt.Fprint(h, configText())
	for _, e := range v.edits() {
		fmt.Fprintln(h, e.File, e.Old, e.Now)
	}
	return hex.EncodeToString(h.Sum(nil)[:4])
}
