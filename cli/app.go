package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"aqmlab/results"
	"aqmlab/switch/aqm"
	"aqmlab/switch/port"
	"aqmlab/switch/sched"
)

// App is the command line of a program: that of aqmlab, with what the program
// adds. The zero App adds nothing.
//
// The program is its own helper processes, too, so its main must call
// [App.Main] with the same App whatever the arguments are.
type App struct {
	Schemes    []aqm.Kind   // rows that join those of aqm.Table
	Schedulers []sched.Kind // rows that join those of sched.Table
}

// Main runs the command line and returns the process's exit code. SIGINT and
// SIGTERM end the command, after its clean-up if it has made something; a second one
// kills. When Main returns after a signal, the command may still be running: the
// process is to end. Two rows of one name, of the program's or aqmlab's, fail every
// command.
func (a App) Main(args []string, s Streams) int {
	kinds, err := port.NewKinds(a.Schemes, a.Schedulers)
	if err != nil {
		fmt.Fprintf(s.Err, "aqmlab: %v\n", err)
		return exitFailed
	}
	root := newRoot(s, kinds)
	root.SetArgs(args)
	return new(ending).run(shownOn(s.Err), func(ctx context.Context) error {
		ctx = context.WithValue(ctx, callKey{}, call{args, s})
		begun := false
		root.PersistentPreRun = func(c *cobra.Command, _ []string) {
			begun = true
			if isHelper(c) {
				hold(c) // its owner waits for what it says at its end
				return
			}
			removeLeftovers(c)
		}
		err := root.ExecuteContext(ctx)
		if !begun {
			err = usage(err) // the command line itself is wrong
		}
		return err
	})
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
	root.SetOut(shownOn(s.Out))
	root.SetErr(shownOn(s.Err))
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w (see %s --help)", err, c.CommandPath()))
	})
	root.AddCommand(
		newRun(kinds), newSweep(kinds), newTune(kinds), newReproduce(kinds), newCompare(), newReport(), newServe(kinds), newResults(), newLab(kinds),
		newScheme(kinds), newScheduler(kinds), newWorkload(), newTransport(),
	)
	root.AddCommand(ofMachine(kinds)...)
	checkArgs(root)
	return root
}

// isHelper tells whether a command is for aqmlab itself or for shells: a helper
// process, the work of a job, or completions.
func isHelper(c *cobra.Command) bool { return c.Hidden || c.Parent() != nil && c.Parent().Hidden }

// call is what the program was called with.
type call struct {
	args    []string
	streams Streams
}

// callKey is that of the call in a command's context.
type callKey struct{}

// version is the module's version and the revision that it was built from.
func version() string {
	version, revision := results.ThisBuild()
	return fmt.Sprintf("%s (revision %s)", version, revision)
}

// Command is the command line, for whoever documents it.
func (a App) Command() (*cobra.Command, error) {
	kinds, err := port.NewKinds(a.Schemes, a.Schedulers)
	if err != nil {
		return nil, err
	}
	root := newRoot(Streams{Out: io.Discard, Err: io.Discard}, kinds)
	root.DisableAutoGenTag = true
	return root, nil
}
