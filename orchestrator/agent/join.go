package agent

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Join is the first process of a container: it fetches descriptors at the
// socket of a Meeting, runs this program with the arguments and them, and waits
// for its end, or asks for it when ctx ends. Meanwhile it is a parent to those
// that have lost theirs, as a first process must be. It returns the program's
// exit status, 128 and the signal for one that was killed.
func Join(ctx context.Context, socket string, args []string) (int, error) {
	files, err := fetch(socket)
	if err != nil {
		return 0, fmt.Errorf("join the lab: %w", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, fmt.Errorf("join the lab: %w", err)
	}
	files = append([]*os.File{null, null}, files...)
	p, err := os.StartProcess("/proc/self/exe", append([]string{os.Args[0]}, args...), &os.ProcAttr{
		Env:   os.Environ(),
		Files: files,
		Sys:   &unix.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("join the lab: %w", err)
	}
	for _, f := range files[1:] {
		f.Close() // the program alone holds its ends now
	}
	defer context.AfterFunc(ctx, func() { _ = p.Signal(unix.SIGTERM) })() // or it has ended already
	status, err := reapUntil(p.Pid)
	return status, errors.Join(err, p.Release())
}

// reapUntil reaps children, our own and inherited ones, until that one has
// ended.
func reapUntil(pid int) (int, error) {
	for {
		var status unix.WaitStatus
		got, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, os.NewSyscallError("wait4", err)
		case got == pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case got == pid:
			return status.ExitStatus(), nil
		}
	}
}
