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

// PreciseThread prepares the calling thread, which the caller has locked, for
// SleepUntil: by default the kernel may be 50 us late to save wake-ups.
func PreciseThread() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("setting the timer slack: %w", err)
	}
	return nil
}

// SleepUntil returns at t, or with the context's cause when that ends: at
// once, or within the margin when t is closer.
func SleepUntil(ctx context.Context, t time.Time) error {
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

// dilated maps between lab time and the wall clock, which runs dilation times
// faster.
type dilated struct {
	start    time.Time // wall time of lab time zero
	dilation float64
}

// wall is when it is that lab time.
func (d dilated) wall(at time.Duration) time.Time {
	return d.start.Add(time.Duration(float64(at) * d.dilation))
}

// lab turns a span of wall time into lab time.
func (d dilated) lab(wall time.Duration) time.Duration {
	return time.Duration(float64(wall) / d.dilation)
}

// clock says what time it was when the system's monotonic clock had some value.
type clock struct {
	wall time.Time
	mono int64
}

// clockLooks is how often both clocks are looked at: a thread that lost its CPU
// between the two looks once will hardly lose it every time.
const clockLooks = 16

// closestClock looks at the monotonic clock between two looks at the other,
// and keeps the pair that had the least time between them: its error is well below
// a microsecond.
func closestClock(now func() time.Time, monotonic func() (int64, error)) (clock, error) {
	var best clock
	var narrowest time.Duration
	for i := range clockLooks {
		before := now()
		mono, err := monotonic()
		if err != nil {
			return clock{}, err
		}
		apart := now().Sub(before)
		if i == 0 || apart < narrowest {
			narrowest, best = apart, clock{before.Add(apart / 2), mono}
		}
	}
	return best, nil
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
