package live

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"aqmlab/collectors/meter"
	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
)

// Why a run ended before its flows did.
var (
	errLimit = errors.New("the time limit of the run was reached")
	errStall = errors.New("no flow made progress any more")
)

// Why a flow failed of which every byte came that was sent.
var (
	errEarly        = errors.New("the server stopped before its time")
	errForeignClock = errors.New("the server's clock is not ours: a flow can be pushed only between hosts on one kernel")
)

// run is one replay.
type run struct {
	*Client
	dilated
	records []results.Flow // each written by the goroutine that has the flow
	flows   sync.WaitGroup // goroutines of flows
}

func newRun(c *Client, start time.Time) *run {
	r := &run{Client: c, dilated: dilated{start, c.cfg.Dilation}, records: make([]results.Flow, len(c.cfg.Flows))}
	for i, f := range c.cfg.Flows {
		r.records[i] = f.Record()
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
	if r.cfg.Awake {
		go stayAwake(running)
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread is not unlocked: its timer slack ends with it.
		runtime.LockOSThread()
		if err := r.dispatch(running); err != nil {
			end(err)
		}
		r.flows.Wait()
	}()
	if r.cfg.Stall > 0 {
		r.watch(done, end)
	}
	<-done
	cause := context.Cause(running)
	if cause == nil || errors.Is(cause, errLimit) || errors.Is(cause, errStall) {
		return nil
	}
	return fmt.Errorf("replaying flows: %w", cause)
}

// limit ends a context when the run has taken too long.
func (r *run) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if r.cfg.Limit == 0 || len(r.cfg.Flows) == 0 {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, r.wall(traffic.End(r.cfg.Flows)).Add(r.cfg.Limit), errLimit)
}

// dispatch starts every flow at its time, and after an error, which it
// returns, gives all others a record that says so.
func (r *run) dispatch(ctx context.Context) error {
	err := PreciseThread()
	for i, f := range r.cfg.Flows {
		if err == nil {
			err = SleepUntil(ctx, r.wall(f.Start))
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
	if r.sorts[f.Transport] == Datagrams {
		r.flows.Go(func() { r.listen(ctx, i) })
		return
	}
	e, of := endsOf(&f), meter.Of(&r.records[i])
	var conn *connection
	if !r.cfg.Fresh {
		conn = r.pool.take(e)
	}
	if conn == nil {
		r.flows.Go(func() {
			conn, err := r.open(ctx, e)
			if err != nil {
				r.fail(i, because(ctx, err))
				return
			}
			r.finish(ctx, i, conn, conn.send(r.request(f), of))
		})
		return
	}
	err := conn.send(r.request(f), of)
	r.flows.Go(func() { r.finish(ctx, i, conn, err) })
}

// open connects on behalf of a flow.
func (r *run) open(ctx context.Context, e ends) (*connection, error) {
	begin := time.Now()
	conn, err := r.connect(ctx, e)
	if err == nil && r.cfg.Fresh && r.cfg.Handshake {
		conn.opening = time.Since(begin)
	}
	return conn, err
}

// request is what to ask for at this moment.
func (r *run) request(f traffic.Flow) request {
	tagging, service := r.cfg.Tagging.Of(&f)
	q := request{flow: uint64(f.ID), bytes: f.Bytes, service: uint8(service)}
	q.count = uint8(copy(q.thresholds[:], tagging.Thresholds))
	if gap := tagging.Gap; gap > 0 {
		q.gap = gapOf(float64(gap) * r.cfg.Dilation)
	}
	if f.Rate > 0 {
		q.rate = max(1, int64(float64(f.Rate)/8/r.cfg.Dilation))
	}
	if f.Stop > 0 {
		q.lasts = max(1, time.Until(r.wall(f.Stop)))
	}
	return q
}

// finish reads the response, unless sending failed with err, and writes the
// record.
func (r *run) finish(ctx context.Context, i int, conn *connection, err error) {
	if err == nil {
		err = conn.receive()
	}
	end := time.Now()
	f, rec := r.cfg.Flows[i], &r.records[i]
	sum := conn.retransmits().since(conn.before)
	rec.Retransmits, rec.Timeouts = sum.packets, sum.timeouts
	if err == nil && conn.left > 0 && end.Before(r.wall(f.Stop)) {
		err = errEarly
	}
	began := conn.sent
	if f.Push && err == nil {
		began, err = r.pushed(conn.began, conn.sent, end)
	}
	began = began.Add(-conn.opening)
	rec.Sent = r.lab(began.Sub(r.start))
	rec.Received = rec.Bytes - conn.left
	if err != nil {
		r.pool.drop(conn)
		r.fail(i, because(ctx, err))
		return
	}
	rec.Bytes = rec.Received // less than asked for when the server stopped
	rec.FCT = r.lab(end.Sub(began))
	r.completed.Add(1)
	r.end(*rec)
	if r.cfg.Fresh || f.Stop > 0 || f.Rate > 0 {
		r.pool.drop(conn)
	} else {
		r.pool.put(conn)
	}
}

// clockError is more than looking at two clocks one after the other takes.
const clockError = time.Millisecond

// pushed is when the server, which was asked at sent, began to send by itself what ended at
// end. The server's clock says when it began.
func (r *run) pushed(server int64, sent, end time.Time) (time.Time, error) {
	began := r.clock.at(server)
	switch {
	case began.Before(sent.Add(-clockError)) || began.After(end.Add(clockError)):
		return sent, errForeignClock
	case began.Before(sent):
		return sent, nil
	}
	return began, nil
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
