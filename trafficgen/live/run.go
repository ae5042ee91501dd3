package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"aqmlab/results"
	"aqmlab/trafficgen"
)

// Why a run ended before its flows did.
var (
	errLimit = errors.New("the time limit of the run was reached")
	errStall = errors.New("no flow made progress any more")
)

// run is one replay.
type run struct {
	*Client
	start   time.Time
	records []results.Flow // each written by the goroutine that has the flow
	flows   sync.WaitGroup // goroutines of flows
}

func newRun(c *Client, start time.Time) *run {
	r := &run{Client: c, start: start, records: make([]results.Flow, len(c.cfg.Flows))}
	for i, f := range c.cfg.Flows {
		r.records[i] = results.Flow{
			ID: int64(f.ID), Start: f.Start, Bytes: f.Bytes,
			Client: int32(f.Client), Server: int32(f.Server), Service: int32(f.Service),
		}
	}
	return r
}

// replay returns when every flow has its record. A run that its limit or stall
// ended is no error: the records say so.
func (r *run) replay(ctx context.Context) error {
	limited, release := r.limit(ctx)
	defer release()
	running, end := context.WithCancelCause(limited)
	defer end(nil)
	// Closing the connections is what wakes a flow that waits on one.
	defer context.AfterFunc(running, r.Close)()

	var helpers sync.WaitGroup
	done := make(chan struct{})
	if r.cfg.Stall > 0 {
		helpers.Go(func() { r.watch(done, end) })
	}
	helpers.Go(func() {
		defer close(done)
		// The thread is not unlocked: its timer slack ends with it.
		runtime.LockOSThread()
		if err := r.dispatch(running); err != nil {
			end(err)
		}
		r.flows.Wait()
	})
	helpers.Wait()
	cause := context.Cause(running)
	if cause == nil || errors.Is(cause, errLimit) || errors.Is(cause, errStall) {
		return nil
	}
	return fmt.Errorf("replaying flows: %w", cause)
}

// limit ends a context when the run has taken too long.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	n := len(r.cfg.Flows)
	if r.cfg.Limit == 0 || n == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, r.due(r.cfg.Flows[n-1]).Add(r.cfg.Limit), errLimit)
}

func (r *run) due(f trafficgen.Flow) time.Time {
	return r.start.Add(time.Duration(float64(f.Start) * r.cfg.Dilation))
}

// lab turns a span of wall time into lab time.
func (r *run) lab(d time.Duration) time.Duration {
	return time.Duration(float64(d) / r.cfg.Dilation)
}

// dispatch starts every flow at its time, and after an error, which it
// returns, gives all others a record that says so.
func (r *run) dispatch(ctx context.Context) error {
	err := preciseThread()
	for i, f := range r.cfg.Flows {
		if err == nil {
			err = sleepUntil(ctx, r.due(f))
		}
		if err != nil {
			r.fail(i, fmt.Errorf("not started: %w", err))
			continue
		}
		r.begin(ctx, i)
	}
	return err
}

// begin sends a flow's request at once if a connection is idle. The rest, and
// connecting otherwise, is left to a goroutine of the flow.
func (r *run) begin(ctx context.Context, i int) {
	r.started.Add(1)
	f := r.cfg.Flows[i]
	e := ends{f.Client, f.Server}
	conn := r.pool.take(e)
	if conn == nil {
		r.flows.Go(func() {
			conn, err := r.connect(ctx, e)
			if err != nil {
				r.fail(i, because(ctx, err))
				return
			}
			r.finish(ctx, i, conn, conn.send(f))
		})
		return
	}
	err := conn.send(f)
	r.flows.Go(func() { r.finish(ctx, i, conn, err) })
}

// finish reads the response, unless sending failed with err, and writes the
// record.
func (r *run) finish(ctx context.Context, i int, conn *connection, err error) {
	if err == nil {
		err = conn.receive()
	}
	took := time.Since(conn.sent)
	rec := &r.records[i]
	rec.Sent = r.lab(conn.sent.Sub(r.start))
	rec.Received = rec.Bytes - conn.left
	if err != nil {
		r.pool.drop(conn)
		r.fail(i, because(ctx, err))
		return
	}
	rec.FCT = r.lab(took)
	r.completed.Add(1)
	r.pool.put(conn)
}

// because names what closed the connections when that is why a flow failed.
func because(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("not finished: %w", context.Cause(ctx))
	}
	return err
}

func (r *run) fail(i int, err error) {
	r.records[i].Error = err.Error()
	r.failed.Add(1)
}

// watch ends the run when flows are under way and nothing moves.
func (r *run) watch(done <-chan struct{}, end context.CancelCauseFunc) {
	tick := time.NewTicker(max(r.cfg.Stall/stallChecks, 1))
	defer tick.Stop()
	var s stall
	for {
		select {
		case <-done:
			return
		case <-tick.C:
			if s.check(r.Progress()) {
				end(errStall)
				return
			}
		}
	}
}

// stallChecks is how often within the stall time progress is looked at.
const stallChecks = 8

// stall counts the looks since something moved. The zero value is ready to
// use.
type stall struct {
	before int64
	quiet  int
}

// check tells whether nothing moved for the whole stall time, which is one
// look more than fit into it. Waiting for the next flow to start is no stall.
func (s *stall) check(p Progress) bool {
	ended := p.Completed + p.Failed
	moved := p.Bytes + ended
	if moved != s.before || p.Started == ended {
		s.before, s.quiet = moved, 0
		return false
	}
	s.quiet++
	return s.quiet > stallChecks
}
