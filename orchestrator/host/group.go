package host

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// AwaitEnd waits until a child of this process has ended. Until somebody waits for it, too,
// its number, which is that of its group if it leads one, is no other's.
func AwaitEnd(pid int) error {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	return os.NewSyscallError("waitid", err)
}

// KillGroup kills a child that leads a process group and nobody has waited for, with the
// group.
func KillGroup(pid int) error {
	return os.NewSyscallError("kill", unix.Kill(-pid, unix.SIGKILL))
}
