package live

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// nap is less than the 10 ms after which the Go runtime takes away the P that a sleeping
// thread keeps.
const nap = 5 * time.Millisecond

// stayAwake has one goroutine be in a system call until ctx ends. While there is none, the
// runtime's monitor thread goes to sleep, and the next system call wakes it: it looks
// around after 20 us, and sleeps again. That is three calls more, and two changes of
// threads, whenever a response goes on, which where time is virtual are a fourth of all.
// With one goroutine in a call the monitor looks around every 10 ms.
func stayAwake(ctx context.Context) {
	for ctx.Err() == nil {
		lasts := unix.NsecToTimespec(int64(nap))
		_ = unix.Nanosleep(&lasts, nil) // a signal makes it shorter
	}
}
