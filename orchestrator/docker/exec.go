package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"time"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Streams are the standard streams of a command in a container.
type Streams struct {
	In       *os.File
	Out, Err io.Writer
}

// Exec runs a command in a container, as root of the container and with its
// capabilities, and returns its exit status. With terminals at In and Out it
// gets a terminal of its own. When ctx ends it is interrupted, as by Ctrl-C.
// The error for a command that is not to be found wraps [exec.ErrNotFound].
func Exec(ctx context.Context, name string, argv []string, s Streams) (int, error) {
	api, err := newClient()
	if err != nil {
		return 0, err
	}
	return (&execution{api: api, streams: s, tty: s.terminal()}).run(ctx, name, argv)
}

// ExecThere is [Exec] in a container of another machine, whose client it closes. When ctx
// ends it leaves the command to itself, unless that has a terminal, which gets the keys.
func ExecThere(ctx context.Context, api *client.Client, name string, argv []string, s Streams) (int, error) {
	return (&execution{api: api, streams: s, tty: s.terminal(), far: true}).run(ctx, name, argv)
}

func (e *execution) run(ctx context.Context, name string, argv []string) (int, error) {
	defer e.api.Close()
	if len(argv) == 0 {
		return 0, errors.New("no command to run")
	}
	status, err := e.do(ctx, name, argv)
	if err != nil {
		return 0, fmt.Errorf("run %s in container %s: %w", argv[0], name, err)
	}
	return status, nil
}

// terminal tells whether the command shall have one.
func (s Streams) terminal() bool {
	out, ok := s.Out.(*os.File)
	return ok && s.In != nil && term.IsTerminal(int(s.In.Fd())) && term.IsTerminal(int(out.Fd()))
}

// execution is one command that runs in a container.
type execution struct {
	api     *client.Client
	streams Streams
	tty     bool
	far     bool // on another machine, where this one cannot signal the command
	id      string
}

func (e *execution) do(ctx context.Context, name string, argv []string) (int, error) {
	// The end of ctx interrupts the command; what it then does is still waited
	// for.
	background := context.WithoutCancel(ctx)
	made, err := e.api.ContainerExecCreate(background, name, container.ExecOptions{
		Cmd: argv, Tty: e.tty, AttachStdin: e.streams.In != nil, AttachStdout: true, AttachStderr: true, Env: e.env(),
	})
	if err != nil {
		return 0, explain(e.api, err)
	}
	e.id = made.ID
	conn, err := e.api.ContainerExecAttach(background, e.id, container.ExecAttachOptions{Tty: e.tty})
	if err != nil {
		return 0, explain(e.api, err)
	}
	defer conn.Close()
	running, end := context.WithCancel(background)
	defer end()
	interrupt := func() { e.interrupt(running) }
	if e.far {
		interrupt = conn.Close
	}
	defer context.AfterFunc(ctx, interrupt)()
	restore, err := e.takeTerminal(background)
	if err != nil {
		return 0, err
	}
	err = errors.Join(e.copy(conn), restore())
	if e.far && ctx.Err() != nil {
		return 0, fmt.Errorf("the command may go on there: %w", context.Cause(ctx))
	}
	if err != nil {
		return 0, err
	}
	return e.status(background)
}

// env is what the command knows beside what the image says.
func (e *execution) env() []string {
	if kind := os.Getenv("TERM"); e.tty && kind != "" {
		return []string{"TERM=" + kind}
	}
	return nil
}

// copy copies the streams until the command's output ends.
func (e *execution) copy(conn types.HijackedResponse) error {
	if e.streams.In != nil {
		go func() { // ends with the input, or the process
			_, _ = io.Copy(conn.Conn, e.streams.In) // the command may not care for it
			_ = conn.CloseWrite()
		}()
	}
	var err error
	if e.tty {
		_, err = io.Copy(e.streams.Out, conn.Reader)
	} else {
		_, err = stdcopy.StdCopy(e.streams.Out, e.streams.Err, conn.Reader)
	}
	if err != nil {
		return fmt.Errorf("copying its output: %w", err)
	}
	return nil
}

// takeTerminal makes our terminal that of the command: keys go to it as they
// are, and it follows the size. The function that it returns gives it back.
func (e *execution) takeTerminal(ctx context.Context) (restore func() error, err error) {
	if !e.tty {
		return func() error { return nil }, nil
	}
	in := int(e.streams.In.Fd())
	before, err := term.MakeRaw(in)
	if err != nil {
		return nil, fmt.Errorf("taking the terminal: %w", err)
	}
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, unix.SIGWINCH)
	var follow sync.WaitGroup
	follow.Go(func() {
		for e.resize(ctx); ; e.resize(ctx) {
			if _, more := <-changes; !more {
				return
			}
		}
	})
	return func() error {
		signal.Stop(changes)
		close(changes)
		follow.Wait()
		return term.Restore(in, before)
	}, nil
}

// resize tells the command how large the terminal is. That this fails spoils
// the picture and nothing else.
func (e *execution) resize(ctx context.Context) {
	width, height, err := term.GetSize(int(e.streams.In.Fd()))
	if err != nil {
		return
	}
	_ = e.api.ContainerExecResize(ctx, e.id, container.ResizeOptions{Height: uint(height), Width: uint(width)})
}

// inspectEvery is how often the daemon is asked for a command's process.
const inspectEvery = 10 * time.Millisecond

// interrupt does what Ctrl-C does to a command that has no terminal, of which
// the daemon has no call. A command may have written something before the daemon
// knows its process; ctx ends with the command.
func (e *execution) interrupt(ctx context.Context) {
	for {
		if run, err := e.api.ContainerExecInspect(ctx, e.id); err == nil && run.Running && run.Pid > 0 {
			_ = unix.Kill(run.Pid, unix.SIGINT) // or it has ended
			return
		}
		select {
		case <-time.After(inspectEvery):
		case <-ctx.Done():
			return
		}
	}
}

// Exit statuses of a command that could not be started, as of a shell.
const (
	notExecutable = 126
	notFound      = 127
)

// status is how the command ended.
func (e *execution) status(ctx context.Context) (int, error) {
	run, err := e.api.ContainerExecInspect(ctx, e.id)
	if err != nil {
		return 0, explain(e.api, err)
	}
	if run.Pid == 0 && (run.ExitCode == notExecutable || run.ExitCode == notFound) {
		return 0, fmt.Errorf("%w: the host's image has none (host.image names another)", exec.ErrNotFound)
	}
	return run.ExitCode, nil
}
