package host

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

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
