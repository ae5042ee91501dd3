// Package cli is the command line: one file a command, and no logic of its
// own. Results go to standard output, progress and messages to standard error.
package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Streams are where commands write.
type Streams struct {
	Out io.Writer // results
	Err io.Writer // progress, messages, errors
}

// Exit codes. That of a command which was interrupted is 128 and the signal.
const (
	exitFailed = 1
	exitUsage  = 2
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
		cause := interrupted{syscall.SIGINT}
		errors.As(context.Cause(ctx), &cause)
		return cause.status()
	}
	return exitFailed
}

// checkArgs has the commands below one check the number of their arguments, none
// unless they say otherwise, with a usage error that shows the command's form.
func checkArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		check := sub.Args
		if check == nil {
			check = cobra.NoArgs
		}
		sub.Args = func(c *cobra.Command, given []string) error {
			if err := check(c, given); err != nil {
				return usage(fmt.Errorf("%w: usage: %s", err, c.UseLine()))
			}
			return nil
		}
		checkArgs(sub)
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

// shown makes a command print what find returns: by print, or as JSON with --json. An
// exit status that find returns beside it is the command's.
func shown[T any](c *cobra.Command, find func(c *cobra.Command, words []string) (T, error), print func(w io.Writer, found T) error) *cobra.Command {
	asJSON := c.Flags().Bool("json", false, "print JSON")
	c.RunE = func(c *cobra.Command, words []string) error {
		found, err := find(c, words)
		if err != nil && !errors.As(err, new(exitStatus)) {
			return err
		}
		if *asJSON {
			return cmp.Or(printJSON(c.OutOrStdout(), found), err)
		}
		return cmp.Or(print(c.OutOrStdout(), found), err)
	}
	return c
}

// columns aligns the columns of what f prints, which tabs part, to the left.
func columns(w io.Writer, f func(w io.Writer)) error { return aligned(w, 0, f) }

// numbers aligns them to the right.
func numbers(w io.Writer, f func(w io.Writer)) error { return aligned(w, tabwriter.AlignRight, f) }

func aligned(w io.Writer, flags uint, f func(w io.Writer)) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', flags)
	f(tw)
	return tw.Flush()
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

// isTerminal tells whether a stream is a terminal.
func isTerminal(stream any) bool {
	if _, ok := stream.(screen); ok {
		return true
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// plural counts things in words.
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
