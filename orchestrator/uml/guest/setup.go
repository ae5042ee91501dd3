package guest

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
