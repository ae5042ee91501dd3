package host

import (
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUs lists the processors that the calling thread may use, in rising order.
func CPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, os.NewSyscallError("sched_getaffinity", err)
	}
	var all []int
	for cpu := range len(set) * 64 {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all, nil
}

// UseCPU keeps the calling, locked thread and what it starts on one processor.
func UseCPU(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	return os.NewSyscallError("sched_setaffinity", unix.SchedSetaffinity(0, &one))
}

// Monotonic reads CLOCK_MONOTONIC, in nanoseconds: the same for all processes
// of a kernel, whatever containers they are in.
func Monotonic() (int64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("reading the monotonic clock: %w", err)
	}
	return now.Nano(), nil
}

// WallTime is the time at which CLOCK_MONOTONIC reads that many nanoseconds.
func WallTime(monotonic int64) (time.Time, error) {
	now, err := Monotonic()
	return time.Now().Add(time.Duration(monotonic - now)), err
}

// Kill kills a process if it is the one that is meant, and returns a pidfd for
// [AwaitDeath], which the caller closes; -1 if it is not, or is gone. A pidfd is of
// one process for ever, whoever gets the number next, so what is looked at is what is
// killed.
func Kill(pid int, meant func() (bool, error)) (pidfd int, err error) {
	fd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOENT) {
		return -1, nil // gone; with the latter two its number is now a mere thread's
	}
	if err != nil {
		return -1, os.NewSyscallError("pidfd_open", err)
	}
	is, err := meant()
	if err == nil && is {
		if err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err == nil {
			return fd, nil
		}
		err = os.NewSyscallError("pidfd_send_signal", err)
	}
	if errors.Is(err, unix.ESRCH) || errors.Is(err, fs.ErrNotExist) {
		err = nil // it has gone meanwhile
	}
	return -1, errors.Join(err, unix.Close(fd))
}

// AwaitDeath waits until the process of a pidfd is dead. The error is
// context.DeadlineExceeded when it is not by the deadline.
func AwaitDeath(pidfd int, deadline time.Time) error {
	for {
		poll := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(poll, int(max(0, time.Until(deadline).Milliseconds())))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n == 0:
			return context.DeadlineExceeded
		default:
			return nil
		}
	}
}

// Loader is the path of the loader that a program asks for, or empty if it is
// static: then it needs nothing but the kernel, and runs in containers and guests
// that have no other files. It is an error if the file is no ELF program.
func Loader(program string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", fmt.Errorf("looking what %s needs: %w", program, err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			path, err := io.ReadAll(p.Open())
			return strings.TrimRight(string(path), "\x00"), err
		}
	}
	return "", nil
}
