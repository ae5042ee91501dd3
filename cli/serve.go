package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/board"
	"aqmlab/results/serve"
	"aqmlab/switch/port"
)

func newServe(kinds port.Kinds) *cobra.Command {
	var port uint16
	var sweeps string
	var allowRuns bool
	c := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show stored runs, and those being made, in a browser",
		Long: `Serve shows a folder of runs (results/runs unless told otherwise) in a browser
until it is interrupted: a list to filter, reports that compare chosen runs, and
how far the runs are that are being made. A second page shows how far the sweeps of
a store are (--sweeps), as grids with a cell for each measurement.

The address that it prints has a token, new at each start. Without it nobody sees
anything, as other users of the machine can reach the port, too. A browser keeps
the token after the first visit.

With --allow-runs, labs that ship with aqmlab can be started from the page, and stopped:
on this machine, as this user, stored in DIR. They are the same runs that aqmlab run
makes, one at a time. Whoever has the address can start them. The end of serve
interrupts the one that is going on, which keeps the points that it has.

It listens on ` + serve.Address + ` only. From another machine, forward the port:
ssh -L 8470:localhost:8470 HOST, and open the address that is printed there.`,
		Example: `  aqmlab serve
  aqmlab serve reproduce/record/tcn-fig6 --port 0
  aqmlab serve --allow-runs
  aqmlab serve --sweeps /shared/sweeps`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, dirs []string) error {
			dir := runsDir
			if len(dirs) > 0 {
				dir = dirs[0]
				if err := isFolder(dir); err != nil {
					return usage(fmt.Errorf("serving runs: %w", err))
				}
			}
			if c.Flags().Changed("sweeps") {
				if err := isFolder(sweeps); err != nil {
					return usage(fmt.Errorf("--sweeps: %w", err))
				}
			}
			content := serve.Content{Runs: dir, Sweeps: board.New(sweep.Store{Dir: sweeps, Kinds: kinds})}
			defer hold(c)()
			if allowRuns {
				runs := newRunner(c.Context(), kinds, dir)
				defer runs.close(c.ErrOrStderr())
				content.Runner = runs
			}
			return serve.Listen(c.Context(), content, port, func(url string) {
				fmt.Fprintf(c.ErrOrStderr(), "Serving %s at %s until interrupted (Ctrl-C).\n", dir, url)
			})
		},
	}
	c.Flags().Uint16Var(&port, "port", 8470, "TCP port of "+serve.Address+"; 0: any that is free")
	c.Flags().BoolVar(&allowRuns, "allow-runs", false, "let the page start and stop runs of labs that ship")
	c.Flags().StringVar(&sweeps, "sweeps", sweepsStore, "folder of the points of sweeps")
	return c
}

// isFolder is an error unless a folder is there.
func isFolder(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", dir)
	}
	return err
}
