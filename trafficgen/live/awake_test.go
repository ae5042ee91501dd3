package live

import (
	"context"
	"testing"
	"time"
)

// TestAwake: to stay awake changes no flow's record, and ends with the replay.
func TestAwake(t *testing.T) {
	n := newLoopback()
	serve(t, n, 1)
	flows := one(flow(0, 1, 1000))
	c := open(t, n, Config{Flows: flows, Awake: true})
	records, err := c.Run(t.Context(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	checkCompleted(t, records, flows)
}

// TestStayAwake: it goes on until its context ends.
func TestStayAwake(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { stayAwake(ctx); close(ended) }()
	select {
	case <-ended:
		t.Error("it ended by itself")
	default:
	}
	cancel()
	<-ended
}
