package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"aqmlab/orchestrator/journal"
)

// Process is an agent that this process has started. It is safe for use by
// several goroutines.
type Process struct {
	role   string
	body   Body
	owner  *os.File // this end of the socket pair
	log    *tail
	client *Client

	done    chan struct{}          // closed after exit is set
	exit    error                  // why it ended; nil after a clean end
	stopped atomic.Bool            // its end was asked for
	told    atomic.Bool            // that it died is in an error already
	stalled atomic.Pointer[string] // why watch has killed it
}

// start starts the process with the files that every agent has, and those of the
// options.
func (p *Process) start(ctx context.Context, o Options, files []*os.File) error {
	stderr, err := p.log.open()
	if err != nil {
		return err
	}
	p.body, err = o.launch(ctx, Command{
		Args:   append([]string{"agent", o.Role}, o.Args...),
		Stderr: stderr,
		Files:  append(files, o.Files...),
	})
	p.log.opened()
	if err != nil {
		p.log.drain()
	}
	return err
}

// begin records the agent, sends it off, and waits until it answers.
func (p *Process) begin(ctx context.Context, o Options, l *link) error {
	err := p.record(o)
	if err != nil {
		return err
	}
	fate := byte(attached)
	switch {
	case o.Detached != nil:
		fate = detached
	case o.Quiet:
		fate = quiet
	}
	if _, err := p.owner.Write([]byte{fate}); err != nil {
		return p.explain(ctx, fmt.Errorf("send off: %w", err))
	}
	if p.client, err = l.client(ctx); err != nil {
		return p.explain(ctx, err)
	}
	return p.answered(ctx, p.client.ping(ctx))
}

// record has the agent removed should its owner die. One inside of its owner dies with it.
func (p *Process) record(o Options) error {
	if p.PID() == os.Getpid() {
		return nil
	}
	start, err := startTime(p.PID())
	if err != nil {
		return err
	}
	return o.record(journal.Entry{Kind: journal.Process, Name: p.role, PID: p.PID(), Start: start})
}

// reap waits for the process; it is the owner of its end.
func (p *Process) reap() {
	p.exit = p.body.Wait()
	p.log.drain()
	close(p.done)
}

// PID returns the agent's process id.
func (p *Process) PID() int { return p.body.PID() }

// Done is closed when the process has ended, for whatever reason.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns why the process ended on its own, with the last lines of its
// stderr: an error that wraps ErrDied. It is nil while the process runs, and
// after an end that Stop asked for.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.stopped.Load() {
		return nil
	}
	return p.died()
}

func (p *Process) died() error {
	p.told.Store(true)
	how := "exit status 0"
	if p.exit != nil {
		how = p.exit.Error()
	}
	if why := p.stalled.Load(); why != nil {
		how = *why
	}
	err := fmt.Errorf("%w: %s (process %d): %s", ErrDied, p.role, p.PID(), how)
	if words := p.log.lines(); words != "" {
		err = fmt.Errorf("%w; it last wrote:\n%s", err, words)
	}
	return err
}

// Call calls a method of the agent's service as Client.Call does. When the
// agent dies meanwhile, the error is that of Err.
func (p *Process) Call(ctx context.Context, method string, args, reply any) error {
	return p.answered(ctx, p.client.Call(ctx, method, args, reply))
}

// answered turns the error of a call that lost its agent into why it did.
func (p *Process) answered(ctx context.Context, err error) error {
	if disconnected(err) || err != nil && strings.Contains(err.Error(), errTold.Error()) {
		return p.explain(ctx, err)
	}
	return err
}

// explain adds to err, of a connection that the agent's death may have ended, or of an
// agent that is about to, how it died. The connection ends a moment before the process has.
func (p *Process) explain(ctx context.Context, err error) error {
	select {
	case <-p.done:
		return errors.Join(err, p.died())
	case <-ctx.Done():
		return errors.Join(err, context.Cause(ctx))
	case <-time.After(grace):
		return err
	}
}

// Stop asks the agent to end, kills it if it has not when ctx ends or after a
// few seconds, and waits until it is gone. The error says that it had to be
// killed, that it failed while ending, or that it had died before, unless an
// error of Call or Err has said so.
func (p *Process) Stop(ctx context.Context) error {
	if p.told.Load() {
		return p.release()
	}
	if err := p.Err(); err != nil {
		return errors.Join(err, p.release())
	}
	p.stopped.Store(true)
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	asked := p.client.Quit(ctx)
	select {
	case <-p.done:
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("agent %s did not end by itself: killed", p.role), asked, p.kill())
	}
	if p.exit != nil {
		return errors.Join(p.died(), p.release())
	}
	return p.release()
}

// Release lets go of a detached agent, which goes on. The Process is of no
// further use.
func (p *Process) Release() error {
	return errors.Join(p.client.Close(), p.owner.Close(), p.log.close())
}

// kill ends the process at once, waits for its end and releases what is held
// for it.
func (p *Process) kill() error {
	p.stopped.Store(true)
	if err := p.body.Kill(); err != nil {
		return fmt.Errorf("kill agent %s: %w", p.role, err)
	}
	<-p.done
	return p.release()
}

// release closes what is held for a process that has ended. Closing twice is
// no error.
func (p *Process) release() error {
	var errs []error
	if p.client != nil {
		errs = append(errs, p.client.Close())
	}
	if err := p.owner.Close(); !errors.Is(err, os.ErrClosed) {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, p.log.close())...)
}
