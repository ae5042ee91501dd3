package host

import (
	"context"
	"errors"
	"fmt"
	"os"
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
