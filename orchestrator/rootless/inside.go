package rootless

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// What this program is as the first process of new namespaces, and as one that joins
// those of another: "agent" and this are its first arguments then.
const (
	Role     = "rootless"
	JoinRole = "rootless-join"
)

// Begin readies the mounts of new namespaces, of which this is the first process, and
// becomes this program with the arguments; without any it returns. It returns when it
// fails, too.
func Begin(args []string) error {
	if err := ownRun(); err != nil {
		return fmt.Errorf("readying mounts in a user namespace: %w", err)
	}
	if len(args) == 0 {
		return nil
	}
	signal.Ignore(unix.SIGTTOU) // it is in the background of its terminal, and yet may write there
	// Only the first thread was asked to die with its parent. The new program keeps what
	// is asked of the thread that becomes it, which may be another.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl PR_SET_PDEATHSIG", err)
	}
	return become(args)
}

// Inside is the command that runs this program with the arguments in the user and mount
// namespaces of a process of this user's, in the same folder. Only a process of a single
// thread may enter a user namespace, which no Go program is: nsenter does it.
func Inside(pid int, args []string) (argv []string, err error) {
	helper, err := exec.LookPath("nsenter")
	if err != nil {
		return nil, fmt.Errorf("entering the namespaces of an ordinary user's lab takes nsenter (Debian: util-linux): %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working folder: %w", err)
	}
	return append([]string{helper, "--target", strconv.Itoa(pid), "--user", "--mount", "--preserve-credentials", "--", self, "agent", JoinRole, dir}, args...), nil
}

// Join goes on in a folder, when other namespaces have been entered, which ends in their
// root folder. It takes a network of its own: what begins in a lab's is taken for a
// program on a host, and what begins in the machine's may not return there.
func Join(dir string, args []string) error {
	runtime.LockOSThread() // it becomes the new program
	err := os.NewSyscallError("unshare network", unix.Unshare(unix.CLONE_NEWNET))
	if err := cmp.Or(err, os.Chdir(dir)); err != nil {
		return fmt.Errorf("going on in the namespaces of a lab: %w", err)
	}
	return become(args)
}

// become replaces this process by this program with other arguments.
func become(args []string) error {
	argv := append([]string{os.Args[0]}, args...)
	return os.NewSyscallError("exec", unix.Exec("/proc/self/exe", argv, os.Environ()))
}

// Where names of network namespaces lie, for ip netns as well.
const (
	runFolder   = "/run"
	namesFolder = "/run/netns"
)

// ownRun lays a folder of this namespace's own over /run, with everything that is there
// but the names of network namespaces: those of a lab are made there.
func ownRun() error {
	// From here on nothing that is mounted here shows outside.
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return os.NewSyscallError("make mounts private", err)
	}
	before, err := os.Open(runFolder)
	if err != nil {
		return err
	}
	defer before.Close()
	entries, err := before.ReadDir(-1)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", runFolder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return os.NewSyscallError("mount tmpfs on "+runFolder, err)
	}
	covered := fmt.Sprintf("/proc/self/fd/%d", before.Fd())
	for _, e := range entries {
		// What cannot be shown is not there; whoever misses it says so.
		if to := filepath.Join(runFolder, e.Name()); to != namesFolder {
			_ = show(filepath.Join(covered, e.Name()), to, e.Type())
		}
	}
	return nil
}

// show makes what is at a path appear at another.
func show(from, to string, kind os.FileMode) error {
	switch {
	case kind&os.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case kind.IsDir():
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
	default:
		if err := os.WriteFile(to, nil, 0o644); err != nil {
			return err
		}
	}
	return os.NewSyscallError("mount", unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""))
}
