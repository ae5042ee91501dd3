package netns

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/host"
)

// HostsFile writes an /etc/hosts that knows all hosts of the lab by name.
func (l *Lab) HostsFile() []byte {
	var out bytes.Buffer
	fmt.Fprintln(&out, "127.0.0.1 localhost")
	for _, h := range l.Hosts {
		fmt.Fprintln(&out, h.Addr, h.Name)
	}
	return out.Bytes()
}

// Exec replaces this process by the command argv, run on the host with the
// given namespace. The command sees hostsFile as /etc/hosts and the host's own
// devices in /sys. Exec only returns when it fails; the error then wraps
// exec.ErrNotFound for a command that is not to be found.
func Exec(namespace, hostsFile string, argv []string) error {
	if len(argv) == 0 {
		return errors.New("no command to run")
	}
	command, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("run on a host: %w", err)
	}
	// Never unlocked: the thread becomes the new process, or ends with this one.
	runtime.LockOSThread()
	if err := Enter(namespace); err != nil {
		return err
	}
	if err := PrivateMounts(hostsFile); err != nil {
		return fmt.Errorf("set up mounts for namespace %s: %w", namespace, err)
	}
	return os.NewSyscallError("exec "+command, unix.Exec(command, argv, os.Environ()))
}

// Enter puts the calling thread, which is locked to its goroutine for good, into a
// named namespace; with an empty name it stays where it is.
func Enter(namespace string) error {
	if namespace == "" {
		return nil
	}
	ns, err := netns.GetFromName(namespace)
	if err != nil {
		return fmt.Errorf("open namespace %s: %w", namespace, err)
	}
	if err := netns.Set(ns); err != nil {
		return errors.Join(fmt.Errorf("enter namespace %s: %w", namespace, err), ns.Close())
	}
	return ns.Close()
}

// PrivateMounts gives the calling thread mounts of its own, with hostsFile, unless it
// is empty, as /etc/hosts, and the /sys of its network namespace.
func PrivateMounts(hostsFile string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return os.NewSyscallError("unshare mounts", err)
	}
	// From here on nothing mounted here shows outside.
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return os.NewSyscallError("make mounts private", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return os.NewSyscallError("mount /sys", err)
	}
	if hostsFile == "" {
		return nil
	}
	if _, err := os.Stat("/etc/hosts"); errors.Is(err, fs.ErrNotExist) {
		return errors.New("this machine has no /etc/hosts, which the lab's host names are laid over: make one, it may be empty (touch /etc/hosts)")
	}
	if err := unix.Mount(hostsFile, "/etc/hosts", "", unix.MS_BIND, ""); err != nil {
		return os.NewSyscallError("mount "+hostsFile+" on /etc/hosts", err)
	}
	return nil
}

// Counters reads the kernel's TCP counters of the named namespace.
func Counters(namespace string) (c host.Counters, err error) {
	err = Do(namespace, func() error {
		c, err = host.ReadCounters()
		return err
	})
	return c, err
}
