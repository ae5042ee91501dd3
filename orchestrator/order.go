package orchestrator

import (
	"context"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"aqmlab/results"
)

// series is points that are measured, some at once, and added in their order, so that
// a run does not depend on which is done first.
type series struct {
	jobs, points int // at once, and in all
	measure      func(ctx context.Context, i int) (results.Point, error)
	add          func(results.Point) error
}

// run measures and adds the points. A point is added before whoever measured it goes
// on with another: with one job, nothing else runs beside a point. After an error it
// has added those that were measured before the first that was not.
func (s series) run(ctx context.Context) error {
	group, running := errgroup.WithContext(ctx)
	group.SetLimit(s.jobs)
	var skipped atomic.Bool
	queue := queue{made: make(map[int]results.Point), add: s.add}
	for i := range s.points {
		group.Go(func() error {
			// Why is known to whoever ended the others, and better.
			if running.Err() != nil {
				skipped.Store(true)
				return nil
			}
			p, err := s.measure(running, i)
			if err != nil {
				return err
			}
			return queue.put(i, p)
		})
	}
	err := group.Wait()
	if err == nil && skipped.Load() {
		return context.Cause(ctx)
	}
	return err
}

// queue adds points in their order.
type queue struct {
	mu   sync.Mutex
	next int                   // number of the point that is to be added next
	made map[int]results.Point // that wait for others before them
	add  func(results.Point) error
}

// put adds point i and those that waited for it, or has it wait.
func (q *queue) put(i int, p results.Point) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made[i] = p
	for {
		p, ok := q.made[q.next]
		if !ok {
			return nil
		}
		delete(q.made, q.next)
		q.next++
		if err := q.add(p); err != nil {
			return err
		}
	}
}
