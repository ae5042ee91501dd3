package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/netns"
)

// child is a process that this one has started.
type child struct{ cmd *exec.Cmd }

var _ Body = child{}

func (c child) PID() int    { return c.cmd.Process.Pid }
func (c child) Wait() error { return c.cmd.Wait() }

func (c child) Kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

// launch starts the agent's process where it shall be.
func (o Options) launch(ctx context.Context, c Command) (Body, error) {
	if o.Place != nil {
		return o.Place.Launch(ctx, c)
	}
	exe := o.Exe
	if exe == "" {
		var err error
		if exe, err = os.Executable(); err != nil {
			return nil, fmt.Errorf("find this program: %w", err)
		}
	}
	cmd := exec.Command(exe, c.Args...)
	cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true}
	cmd.Stderr, cmd.ExtraFiles = c.Stderr, c.Files
	if err := netns.Do(o.Namespace, func() error { return onCPUs(o.CPUs, cmd.Start) }); err != nil {
		return nil, err
	}
	return child{cmd}, nil
}
