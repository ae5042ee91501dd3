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
		if err := sleepUntil(t.Context(), due); err != nil {
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
	go func() { asleep <- sleepUntil(ctx, time.Now().Add(time.Hour)) }()
	cancel(cause)
	if err := <-asleep; !errors.Is(err, cause) {
		t.Errorf("error %v, want %v", err, cause)
	}
	if err := sleepUntil(ctx, time.Now().Add(-1)); !errors.Is(err, cause) {
		t.Errorf("after the end: error %v, want %v", err, cause)
	}
}
