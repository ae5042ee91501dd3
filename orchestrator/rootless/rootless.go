// Package rootless has an ordinary user's aqmlab run as root of a user namespace, with
// mounts and a network of its own. What needs root for labs in network namespaces runs
// there unchanged. Nothing can be left behind: when the last process of the namespaces
// has ended, the kernel removes them with all that is in them.
package rootless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command is a command line of this program.
type Command struct {
	Args     []string // without the program's name
	In       io.Reader
	Out, Err io.Writer
	Env      []string // in addition to this process's
}

// Check tries whether this user may have such namespaces. The error is a
// [*ForbiddenError] where the kernel does not let him.
func Check(ctx context.Context) error {
	var said strings.Builder
	status, err := Run(ctx, Command{Err: &said})
	if err == nil && status != 0 {
		err = explain(fmt.Errorf("%w: %s", errMounts, strings.TrimPrefix(strings.TrimSpace(said.String()), "aqmlab: ")))
	}
	return err
}

// Run runs a command as root of new namespaces, waits for its end, and returns its exit
// status. When ctx ends, the command gets a signal, once: that of the context's cause, if
// it has the method Signal, or SIGINT. If this process is killed, the command is, too.
//
// The command is a process group of its own, so that a terminal's Ctrl-C reaches it by
// this way alone, and a second one is another signal.
func Run(ctx context.Context, c Command) (status int, err error) {
	defer onOneThread()()
	child := exec.CommandContext(ctx, "/proc/self/exe", append([]string{"agent", Role}, c.Args...)...)
	child.Args[0], child.Env = os.Args[0], append(os.Environ(), c.Env...)
	child.Stdin, child.Stdout, child.Stderr = c.In, c.Out, c.Err
	child.Cancel = func() error { return child.Process.Signal(signalOf(ctx)) }
	child.SysProcAttr = &unix.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
		Setpgid:     true,
	}
	if err := child.Start(); err != nil {
		return 0, explain(err)
	}
	defer stopTogether(child.Process.Pid)()
	if err = child.Wait(); err == nil {
		return 0, nil
	}
	var ended *exec.ExitError
	if !errors.As(err, &ended) && ctx.Err() == nil {
		return 0, fmt.Errorf("waiting for aqmlab in a user namespace: %w", err)
	}
	if s := child.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return child.ProcessState.ExitCode(), nil
}

// onOneThread keeps the calling goroutine on its thread until the end is called: it is
// the thread's death that kills a child with Pdeathsig.
func onOneThread() (end func()) {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

// signalOf is the signal that ended a context.
func signalOf(ctx context.Context) os.Signal {
	var by interface{ Signal() syscall.Signal }
	if errors.As(context.Cause(ctx), &by) {
		return by.Signal()
	}
	return unix.SIGINT
}

// stopTogether has a process group stop and go on with this process, as a terminal asks
// with Ctrl-Z and fg, until the end is called.
func stopTogether(group int) (end func()) {
	asked, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(asked, unix.SIGTSTP, unix.SIGCONT)
	go func() {
		defer close(done)
		for s := range asked {
			if s == unix.SIGCONT {
				_ = unix.Kill(-group, unix.SIGCONT) // gone: Wait says so
				continue
			}
			_ = unix.Kill(-group, unix.SIGSTOP)
			_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
		}
	}()
	return func() {
		signal.Stop(asked)
		close(asked)
		<-done
	}
}
