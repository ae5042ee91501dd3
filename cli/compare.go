package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"aqmlab/results"
)

func newCompare() *cobra.Command {
	var baseline string
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare RUN...",
		Short: "Compare the schemes of one or more runs",
		Long: `Compare prints the flow completion times of every scheme relative to the
baseline's, with 95 % intervals of the paired differences (all schemes replay
the same flows), and says which differences are real. It also lists in what the
runs differ beside their schemes, and refuses runs of different traces.

RUN is a folder, or the name of one below results/runs; latest is the newest.`,
		Example: `  aqmlab compare results/runs/latest
  aqmlab compare results/runs/latest --baseline tcn --json`,
		Args:              args(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeRuns(nil),
		RunE: func(c *cobra.Command, names []string) error {
			runs, err := openRuns(runsDir, names)
			if err != nil {
				return err
			}
			comparison, err := results.CompareRuns(runs, baseline)
			if err != nil {
				return usage(err)
			}
			if asJSON {
				for _, w := range comparison.Warnings {
					fmt.Fprintln(c.ErrOrStderr(), "warning:", w)
				}
				return printJSON(c.OutOrStdout(), comparison.JSON())
			}
			return results.Table(c.OutOrStdout(), comparison, tableOptions(c))
		},
	}
	c.Flags().StringVar(&baseline, "baseline", "", "scheme to compare with (default: the lab's)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// openRuns opens the runs that the user named, as paths or as names of folders
// below root.
func openRuns(root string, names []string) ([]*results.Run, error) {
	var runs []*results.Run
	for _, name := range names {
		dir, err := results.Find(root, name)
		if err != nil {
			return nil, usage(err)
		}
		run, err := results.Open(dir)
		if err != nil {
			return nil, usage(err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}
