package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// runtimeMargin is how long before an instant we leave the runtime's timers,
// which are late by milliseconds on an idle process, for the kernel's.
const runtimeMargin = 5 * time.Millisecond

// preciseThread prepares the calling thread, which the caller has locked, for
// sleepUntil: by default the kernel may be 50 us late to save wake-ups.
func preciseThread() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting the timer slack: %w", err)
	}
	return nil
}

// sleepUntil returns at t, or with the context's cause when that ends: at
// once, or within the margin when t is closer.
func sleepUntil(ctx context.Context, t time.Time) error {
	if d := time.Until(t) - runtimeMargin; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return kernelSleep(time.Until(t))
}

// kernelSleep sleeps on the monotonic clock. The wake-up time is absolute, so
// that an interrupted sleep goes on without drift.
func kernelSleep(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	now, err := monotonic()
	if err != nil {
		return err
	}
	wake := unix.NsecToTimespec(now + int64(d))
	for {
		err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &wake, nil)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("sleeping until a flow starts: %w", err)
		}
	}
}

// clock says what time it was when the system's monotonic clock had some value.
type clock struct {
	wall time.Time
	mono int64
}

// readClock looks at both clocks, which takes less than a microsecond.
func readClock() (clock, error) {
	mono, err := monotonic()
	return clock{time.Now(), mono}, err
}

func (c clock) at(mono int64) time.Time { return c.wall.Add(time.Duration(mono - c.mono)) }

// monotonic reads the system's monotonic clock, in nanoseconds.
func monotonic() (int64, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return 0, fmt.Errorf("reading the monotonic clock: %w", err)
	}
	return now.Nano(), nil
}
