// Package guest is what runs as process 1 under a kernel of package uml: it
// mounts the kernel's file systems, makes the guest repeatable, does the host's
// order, and powers the guest off.
package guest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mounts are the folders of the guest's root that something is mounted on.
func Mounts() []string {
	all := []string{Dir}
	for _, m := range mounts() {
		all = append(all, m.at)
	}
	return all
}

// Order does what the host wants. It may say how far it is, in few bytes.
type Order func(order []byte, progress func([]byte) error) (reply []byte, err error)

// Main is the whole life of the guest: it does the order, and returns only when
// it is not process 1.
func Main(do Order) error {
	if os.Getpid() != 1 {
		return errors.New("this is for process 1 of a guest kernel, which aqmlab starts itself")
	}
	comeInside()
	err := serve(do)
	if err != nil {
		// If even this fails the host sees that there is neither reply nor error,
		// and shows the console.
		fmt.Fprintln(os.Stderr, "aqmlab:", err)
		_ = deliver(ErrorFile, []byte(err.Error()))
	}
	return os.NewSyscallError("reboot", unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

func serve(do Order) error {
	if err := setUp(); err != nil {
		return err
	}
	order, err := os.ReadFile(filepath.Join(Dir, OrderFile))
	if err != nil {
		return fmt.Errorf("reading the order: %w", err)
	}
	reply, err := do(order, progress)
	if err != nil {
		return err
	}
	return deliver(ReplyFile, reply)
}

// deliver writes a file that the host finds whole or not at all.
func deliver(name string, text []byte) error {
	path := filepath.Join(Dir, name)
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return fmt.Errorf("answering the host: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("answering the host: %w", err)
	}
	return nil
}

// progress rewrites the progress.
func progress(text []byte) error {
	if err := deliver(ProgressFile, text); err != nil {
		return fmt.Errorf("telling the progress: %w", err)
	}
	return nil
}

// Dir is the folder in the guest through which host and guest talk: on the host
// it lies in the guest's root folder.
const Dir = "/exchange"

// The files in Dir.
const (
	OrderFile    = "order"    // from the host
	SeedFile     = "seed"     // from the host: what the guest's randomness is made of
	ProgressFile = "progress" // from the guest, rewritten at every step
	ReplyFile    = "reply"    // from the guest: the order is done
	ErrorFile    = "error"    // from the guest: why it is not
)

// mount is one file system of the guest.
type mount struct{ kind, at string }

// mounts are what the kernel offers, and room for the state of namespaces and
// labs. The rest of the root is the host's, and read-only.
func mounts() []mount {
	return []mount{
		{"proc", "/proc"},
		{"sysfs", "/sys"},
		{"devtmpfs", "/dev"},
		{"tmpfs", "/run"},
	}
}

// sysctls are what a guest's kernel would choose otherwise.
var sysctls = [...]struct{ file, value string }{
	// A lab that lost a helper process would go on for long before it failed.
	{"vm/panic_on_oom", "1"},
	// The kernel bounds TCP's buffers by its memory when it boots. With a guest's few
	// hundred MiB windows would end at 1 to 2 MB, and the sum of all at 3 % of the
	// memory. These are the bounds of a machine with 1 GB or more (tcp_init of
	// net/ipv4/tcp.c), and none for the sum: 4 GiB, in pages.
	{"net/ipv4/tcp_rmem", "4096 131072 6291456"},
	{"net/ipv4/tcp_wmem", "4096 16384 4194304"},
	{"net/ipv4/tcp_mem", "1048576 1048576 1048576"},
	// The kernel loses frames that its CPU cannot take soon enough (1000 by default). This
	// one's takes no time, and hosts may send any number in one instant.
	{"net/core/netdev_max_backlog", "1000000"},
}

// setUp readies the guest for the order.
func setUp() error {
	for _, m := range mounts() {
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mounting %s at %s: %w", m.kind, m.at, err)
		}
	}
	if err := unix.Mount("exchange", Dir, "hostfs", 0, Dir); err != nil {
		return fmt.Errorf("mounting the host's folder: %w", err)
	}
	for _, s := range sysctls {
		if err := os.WriteFile(filepath.Join("/proc/sys", s.file), []byte(s.value), 0); err != nil {
			return fmt.Errorf("setting %s: %w", s.file, err)
		}
	}
	seed, err := os.ReadFile(filepath.Join(Dir, SeedFile))
	if err != nil {
		return fmt.Errorf("reading the seed: %w", err)
	}
	return feed(seed)
}

// feed seeds the kernel's random numbers, which have no other source: hash
// functions, ports and sequence numbers follow from it.
func feed(seed []byte) error {
	f, err := os.OpenFile("/dev/urandom", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("seeding: %w", err)
	}
	defer f.Close()
	// struct rand_pool_info of linux/random.h: bits, bytes, and the bytes.
	info := binary.NativeEndian.AppendUint32(nil, uint32(8*len(seed)))
	info = binary.NativeEndian.AppendUint32(info, uint32(len(seed)))
	info = append(info, seed...)
	for _, request := range []struct {
		number uintptr
		arg    unsafe.Pointer
	}{
		{unix.RNDADDENTROPY, unsafe.Pointer(&info[0])},
		{unix.RNDRESEEDCRNG, nil}, // at once, not when the kernel gets to it
	} {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request.number, uintptr(request.arg)); errno != 0 {
			return fmt.Errorf("seeding: %w", errno)
		}
	}
	return nil
}

// comeInside has the kernel run this process inside of its own process on the host. A system
// call then is no change from one process of the host to another. See ../inside.yaml and
// ../doors.yaml.
func comeInside() {
	const come = 0x6171 // ARCH_COME_INSIDE
	// A kernel that cannot, or a machine, runs it beside its own.
	_, _, _ = unix.RawSyscall(unix.SYS_ARCH_PRCTL, come, 0, 0)
}
