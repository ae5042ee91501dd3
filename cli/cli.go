// Package cli is the command line: one file a command, and no logic of its
// own. Results go to standard output, progress and messages to standard error.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/testbed"
	"aqmlab/results"
	"aqmlab/switch/port"
)

// Streams are where commands write.
type Streams struct {
	Out io.Writer // results
	Err io.Writer // progress, messages, errors
}

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// usageError is bad input: what the user typed, a lab file, or a machine that
// lacks what was asked for.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usage marks an error as the user's to mend.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// exitStatus is the status of a command that ran on behalf of the user.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

func exitCode(ctx context.Context, w io.Writer, err error) int {
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	}
	fmt.Fprintf(w, "aqmlab: %v\n", err)
	switch {
	case errors.As(err, new(usageError)):
		return exitUsage
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitFailed
}

func newRoot(s Streams, kinds port.Kinds) *cobra.Command {
	root := &cobra.Command{
		Use:   "aqmlab",
		Short: "Find out which ECN/AQM scheme serves a datacenter best",
		Long: `aqmlab runs datacenter networks with real Linux hosts and a software switch,
drives them with realistic traffic, and compares what AQM schemes do to flow
completion times.`,
		Example: `  aqmlab run quickstart
  aqmlab compare results/runs/latest
  aqmlab lab list`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
	})
	root.AddCommand(
		newRun(kinds), newReproduce(kinds), newCompare(), newReport(), newServe(), newResults(), newLab(kinds), newDoctor(), newBench(),
		newScheme(kinds), newScheduler(kinds), newWorkload(), newTransport(), newImage(), newKernel(), newAgent(kinds),
	)
	return root
}

// sweep removes what killed runs have left, before any command does its own work
// but the helper processes and what shells ask for completions.
func sweep(c *cobra.Command) {
	if os.Geteuid() != 0 || c.Hidden || c.Parent() != nil && c.Parent().Hidden {
		return
	}
	removed, err := testbed.Sweep(testbed.Options{})
	for _, id := range removed {
		fmt.Fprintf(c.ErrOrStderr(), "Removed what was left of lab %s, whose run was killed.\n", id)
	}
	if err != nil {
		fmt.Fprintf(c.ErrOrStderr(), "aqmlab: removing what killed runs left: %v\n", err)
	}
}

// args checks the number of arguments as cobra does, as a usage error that
// shows the command's form.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if err := check(c, given); err != nil {
			return usage(fmt.Errorf("%w: usage: %s", err, c.UseLine()))
		}
		return nil
	}
}

// group is a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.ArbitraryArgs, // words that are not the name of one of subs
		RunE: func(c *cobra.Command, words []string) error {
			names := make([]string, 0, len(subs))
			for _, s := range c.Commands() {
				names = append(names, s.Name())
			}
			want := "want one of " + strings.Join(names, ", ")
			if len(words) > 0 {
				want = fmt.Sprintf("unknown command %q: %s", words[0], want)
			}
			return usage(fmt.Errorf("%s: %s", c.CommandPath(), want))
		},
	}
	c.AddCommand(subs...)
	return c
}

// printJSON prints one indented value.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return nil
}

// version is the module's version and the revision that it was built from.
func version() string {
	version, revision := results.ThisBuild()
	return fmt.Sprintf("%s (revision %s)", version, revision)
}
