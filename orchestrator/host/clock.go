package host

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Monotonic reads CLOCK_MONOTONIC, in nanoseconds: the same for all processes
// of a kernel, whatever containers they are in.
func Monotonic() (int64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("reading the monotonic clock: %w", err)
	}
	return now.Nano(), nil
}
