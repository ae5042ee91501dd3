//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/journal"
	"aqmlab/orchestrator/rootless"
	"aqmlab/orchestrator/testbed"
)

// inNamespaces has the command line done once more, as root of a user namespace, if this
// user needs one for a runtime and the runtime allows it. done tells that it was; the
// error is then its exit status.
func inNamespaces(c *cobra.Command, on backend.Facts) (done bool, err error) {
	own, ok := c.Context().Value(callKey{}).(call)
	if !ok || !on.Rootless || os.Geteuid() == 0 {
		return false, nil
	}
	if _, err := os.ReadDir(journal.Root()); errors.Is(err, fs.ErrPermission) {
		return true, usage(fmt.Errorf("looking for this user's labs: %w: name another folder by %s", err, journal.RootVar))
	}
	defer hold(c)()
	status, err := rootless.Run(c.Context(), rootless.Command{
		Args: own.args,
		In:   os.Stdin, Out: own.streams.Out, Err: own.streams.Err,
		Env: sameState(),
	})
	if errors.As(err, new(*rootless.ForbiddenError)) {
		return true, usage(fmt.Errorf("real hosts need root or user namespaces: %w; or run it with sudo, or with --runtime uml or sim", err))
	}
	if err == nil && status != 0 {
		err = exitStatus(status)
	}
	return true, err
}

// sameState is the environment in which root of a user namespace finds this user's labs.
func sameState() []string { return []string{journal.RootVar + "=" + journal.Root()} }

// confined has an ordinary user's command done in namespaces where what it needs, by its
// flags, allows it.
func confined(c *cobra.Command, on func() backend.Facts) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, words []string) error {
		if done, err := inNamespaces(c, on()); done {
			return err
		}
		return run(c, words)
	}
	return c
}

// enter has the command line done in the namespaces of a kept lab of an ordinary user.
// It returns if this is root, who needs none, or if that fails.
func enter(c *cobra.Command, s testbed.Standing) error {
	own, ok := c.Context().Value(callKey{}).(call)
	if !ok || os.Geteuid() == 0 || s.Holder == 0 {
		return nil
	}
	argv, err := rootless.Inside(s.Holder, own.args)
	if err != nil {
		return usage(err)
	}
	return os.NewSyscallError("exec "+argv[0], unix.Exec(argv[0], argv, append(os.Environ(), sameState()...)))
}

// takeDown removes a kept lab. That of an ordinary user is removed from inside its
// namespaces, if they can be entered, since processes on its hosts are seen there alone.
func takeDown(ctx context.Context, s testbed.Standing) error {
	if os.Geteuid() != 0 && s.Holder != 0 {
		if argv, err := rootless.Inside(s.Holder, []string{"lab", "down", s.ID}); err == nil {
			inside := exec.CommandContext(ctx, argv[0], argv[1:]...)
			inside.Env, inside.Stderr = append(os.Environ(), sameState()...), os.Stderr
			return inside.Run()
		}
	}
	return testbed.TakeDown(s.ID, testbed.Options{})
}
