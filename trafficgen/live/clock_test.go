package live

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestSleepUntilIsNeverEarly(t *testing.T) {
	for _, d := range []time.Duration{-time.Second, 0, time.Microsecond, time.Millisecond, runtimeMargin + 3*time.Millisecond} {
		due := time.Now().Add(d)
		if err := SleepUntil(t.Context(), due); err != nil {
			t.Fatal(err)
		}
		if early := time.Until(due); early > 0 {
			t.Errorf("woke %v early from %v", early, d)
		}
	}
}

func TestSleepUntilEndsWithItsContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	asleep := make(chan error)
	go func() { asleep <- SleepUntil(ctx, time.Now().Add(time.Hour)) }()
	cancel(cause)
	if err := <-asleep; !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	if err := SleepUntil(ctx, time.Now().Add(-1)); !errors.Is(err, cause) {
		t.Errorf("after the end: error %v, want %v", err, cause)
	}
}

// A thread that loses its CPU between looking at one clock and at the other
// must not set the clocks apart: pushed flows then end before they begin.
func TestReadClockWhileInterrupted(t *testing.T) {
	const offset = int64(5 * time.Second)
	for lucky := range clockLooks {
		at, looks := time.Unix(0, 0), 0
		wait := func() {
			at = at.Add(200)
			if looks%3 == 1 && looks/3 != lucky {
				at = at.Add(10 * time.Microsecond)
			}
			looks++
		}
		c, err := closestClock(
			func() time.Time { wait(); return at },
			func() (int64, error) { wait(); return at.UnixNano() + offset, nil },
		)
		if err != nil {
			t.Fatal(err)
		}
		if off := c.at(offset).Sub(time.Unix(0, 0)).Abs(); off > time.Microsecond {
			t.Errorf("undisturbed at look %d only: the clocks are %v apart", lucky, off)
		}
	}
}
