package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// interrupted is the cause of the end of a command's context: a signal.
type interrupted struct{ signal syscall.Signal }

func (interrupted) Error() string { return "interrupted" }

// Is makes it what the end of a context is to those who ask.
func (interrupted) Is(target error) bool { return target == context.Canceled }

// Signal is the one that is passed on to a command in a user namespace.
func (i interrupted) Signal() syscall.Signal { return i.signal }

// status is the exit code that shells give a program which a signal ended.
func (i interrupted) status() int { return 128 + int(i.signal) }

// How long a command that cleans nothing up may take to return after a signal: so
// many looks at it.
const (
	lookEvery = 50 * time.Millisecond
	looks     = 10
)

// ending ends a command on SIGINT and SIGTERM. The first ends the command's context.
// A command that then cleans up holds the ending meanwhile; any other has half a
// second, after which it is given up, whatever it waits for. A second signal does what
// signals do to programs that know nothing of them.
type ending struct{ held atomic.Int32 }

// run runs a command, prints its error, and returns the process's exit code.
func (e *ending) run(errs io.Writer, command func(ctx context.Context) error) int {
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), endingKey{}, e))
	defer cancel(nil)
	got := make(chan os.Signal, 2)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(got)
	ended := make(chan error, 1)
	go func() { ended <- command(ctx) }()
	select {
	case err := <-ended:
		return exitCode(ctx, errs, err)
	case s := <-got:
		cancel(interrupted{s.(syscall.Signal)})
		return exitCode(ctx, errs, e.await(ended, got))
	}
}

// await waits for a command whose context has ended.
func (e *ending) await(ended <-chan error, got <-chan os.Signal) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for left := looks; left > 0; {
		select {
		case err := <-ended:
			return err
		case s := <-got:
			die(s.(syscall.Signal))
		case <-tick.C:
			left--
			if e.held.Load() > 0 {
				left = looks
			}
		}
	}
	return errors.New("interrupted")
}

// heeding is a writer that writes nothing more when a command's context has ended.
type heeding struct {
	ctx context.Context
	w   io.Writer
}

func (h heeding) Write(b []byte) (int, error) {
	if err := context.Cause(h.ctx); err != nil {
		return 0, err
	}
	return h.w.Write(b)
}

// endingKey is that of the ending in a command's context.
type endingKey struct{}

// hold says that the command heeds the end of its context from here on, and cleans up
// then, until release is called.
func hold(c *cobra.Command) (release func()) {
	e, ok := c.Context().Value(endingKey{}).(*ending)
	if !ok {
		return func() {}
	}
	e.held.Add(1)
	return func() { e.held.Add(-1) }
}
