package host

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SteerReceive makes the given CPUs, and only those, process what the device
// receives (RPS), on its first receive queue, the only one that a lab's veth
// has. No CPUs turn steering off: the CPU that delivers the frame then runs the
// receiver's stack, which for a veth is the switch's own, inside its send call.
//
// /sys shows the namespace it was mounted from, not the caller's, so this opens a
// sysfs of its own that is attached nowhere and goes with its descriptor.
func SteerReceive(device string, cpus []int) error {
	path := receivePath(device)
	err := writeSysfs(path, cpuMask(cpus))
	if errors.Is(err, fs.ErrNotExist) && len(cpus) <= 1 {
		if _, missing := readSysfs(filepath.Join("class/net", device, "ifindex")); missing == nil {
			return nil // a kernel for a single CPU, which receives everything
		}
	}
	if err != nil {
		return fmt.Errorf("steer receive of %s to CPUs %v: %w", device, cpus, err)
	}
	return nil
}

// receivePath is where sysfs has the CPUs for a device.
func receivePath(device string) string {
	return filepath.Join("class/net", device, "queues/rx-0/rps_cpus")
}

// Steering changes which CPUs process what a device receives, as often as one likes:
// that takes two microseconds and allocates nothing.
type Steering struct {
	fd    int
	masks []string
}

// OpenSteering opens that of a device in the calling thread's namespace, with the sets of
// CPUs that may be chosen, of which none means the CPU that delivers the frame. It works
// wherever it is used.
func OpenSteering(device string, choices ...[]int) (*Steering, error) {
	s := &Steering{fd: -1}
	for _, cpus := range choices {
		s.masks = append(s.masks, cpuMask(cpus))
	}
	err := withSysfs(receivePath(device), unix.O_WRONLY, func(fd int) (err error) {
		s.fd, err = unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("steer receive of %s: %w", device, err)
	}
	return s, nil
}

// Choose makes the CPUs of a choice, by its number, and only those, process what comes
// in from now on. What came in before stays where it is.
func (s *Steering) Choose(choice int) error {
	mask := s.masks[choice]
	_, _, errno := unix.RawSyscall6(unix.SYS_PWRITE64, uintptr(s.fd), uintptr(unsafe.Pointer(unsafe.StringData(mask))), uintptr(len(mask)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("steer receive to CPUs %s: %w", mask, errno)
	}
	return nil
}

// Close leaves the device with what was chosen last.
func (s *Steering) Close() error {
	fd := s.fd
	s.fd = -1
	return unix.Close(fd)
}

// ReceiveCPUs reads back the mask that SteerReceive wrote, as hexadecimal
// digits without leading zeros or commas.
func ReceiveCPUs(device string) (string, error) {
	path := receivePath(device)
	raw, err := readSysfs(path)
	if err != nil {
		return "", fmt.Errorf("read receive steering of %s: %w", device, err)
	}
	mask := strings.TrimLeft(strings.ReplaceAll(strings.TrimSpace(raw), ",", ""), "0")
	if mask == "" {
		return "0", nil
	}
	return mask, nil
}

// cpuMask writes a set of CPUs as the kernel's bitmap_parse reads it:
// hexadecimal, a comma before every 32 bits.
func cpuMask(cpus []int) string {
	mask := new(big.Int)
	for _, cpu := range cpus {
		mask.SetBit(mask, cpu, 1)
	}
	digits := mask.Text(16)
	for i := len(digits) - 8; i > 0; i -= 8 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func writeSysfs(path, value string) error {
	return withSysfs(path, unix.O_WRONLY, func(fd int) error {
		_, err := unix.Write(fd, []byte(value))
		return err
	})
}

func readSysfs(path string) (value string, err error) {
	err = withSysfs(path, unix.O_RDONLY, func(fd int) error {
		page := make([]byte, unix.Getpagesize()) // a sysfs attribute is at most a page
		n, err := unix.Read(fd, page)
		value = string(page[:max(n, 0)])
		return err
	})
	return value, err
}

// withSysfs opens a file of the sysfs of the calling thread's namespace.
func withSysfs(path string, how int, use func(fd int) error) error {
	root, err := mountSysfs()
	if err != nil {
		return err
	}
	defer unix.Close(root)
	fd, err := unix.Openat(root, path, how|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	return use(fd)
}

// mountSysfs returns a descriptor of a detached mount of sysfs (Linux 5.2).
func mountSysfs() (int, error) {
	config, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("open sysfs (needs Linux 5.2): %w", err)
	}
	defer unix.Close(config)
	if err := unix.FsconfigCreate(config); err != nil {
		return -1, fmt.Errorf("create sysfs: %w", err)
	}
	root, err := unix.Fsmount(config, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("mount sysfs: %w", err)
	}
	if err := makeWritable(root); err != nil {
		return -1, errors.Join(fmt.Errorf("make sysfs writable: %w", err), unix.Close(root))
	}
	return root, nil
}

// makeWritable makes a file system writable as such. All mounts of a namespace's
// sysfs are of one file system, which a container's runtime may have mounted
// read-only first; that mount stays read-only by itself.
func makeWritable(root int) error {
	var stat unix.Statfs_t
	if err := unix.Fstatfs(root, &stat); err != nil || stat.Flags&unix.ST_RDONLY == 0 {
		return err
	}
	config, err := unix.Fspick(root, "", unix.FSPICK_CLOEXEC|unix.FSPICK_EMPTY_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(config)
	if err := unix.FsconfigSetFlag(config, "rw"); err != nil {
		return err
	}
	return unix.FsconfigReconfigure(config)
}
