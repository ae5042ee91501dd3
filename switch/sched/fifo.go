package sched

import (
	"fmt"
	"time"
)

// fifo serves a port that has a single queue.
type fifo struct{ heads Heads }

var _ Scheduler = fifo{}

func newFIFO(_ struct{}, env Env) (Scheduler, error) {
	if env.Queues != 1 {
		return nil, fmt.Errorf("a fifo has one queue, not %d", env.Queues)
	}
	return fifo{env.Heads}, nil
}

func (fifo) Enqueued(time.Duration, int, int) {}

func (f fifo) Next(time.Duration) (int, bool) { return 0, f.heads.HeadSize(0) > 0 }

func (fifo) Sent(time.Duration, int, int) {}
