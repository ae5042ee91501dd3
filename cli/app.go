package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

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
// SIGTERM cancel the command, which then cleans up. Two rows of one name, of
// the program's or aqmlab's, fail every command.
func (a App) Main(args []string, s Streams) int {
	kinds, err := port.NewKinds(a.Schemes, a.Schedulers)
	if err != nil {
		fmt.Fprintf(s.Err, "aqmlab: %v\n", err)
		return exitFailed
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root, begun := newRoot(s, kinds), false
	root.PersistentPreRun = func(c *cobra.Command, _ []string) {
		begun = true
		sweep(c)
	}
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	if !begun {
		err = usage(err) // the command line itself is wrong
	}
	return exitCode(ctx, s.Err, err)
}
