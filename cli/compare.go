package cli

import (
	"fmt"

	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/report"
	"aqmlab/results/store"

	"github.com/spf13/cobra"
)

func newCompare() *cobra.Command {
	var baseline string
	var each, asJSON bool
	rule := coexist.Usual()
	c := &cobra.Command{
		Use:   "compare RUN...",
		Short: "Compare the schemes of one or more runs",
		Long: `Compare prints the flow completion times of every scheme relative to the
baseline's, with 95 % intervals of the paired differences (all schemes replay
the same flows), and says which differences are real. It also lists in what the
runs differ beside their schemes, and refuses runs of different traces. With
--each nothing is compared between runs: their results stand side by side.

RUN is a folder, or the name of one below results/runs; latest is the newest.`,
		Example: `  aqmlab compare results/runs/latest
  aqmlab compare results/runs/latest --baseline tcn --json
  aqmlab compare --each results/runs/*-field-*`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeRuns(nil),
		RunE: func(c *cobra.Command, names []string) error {
			if rule.Window < 0 {
				return usage(fmt.Errorf("--window %v: want a time above 0s", rule.Window))
			}
			runs, err := openRuns(runsDir, names)
			if err != nil {
				return err
			}
			if each {
				all, err := compare.Each(runs, baseline, rule)
				switch {
				case err != nil:
					return usage(err)
				case asJSON:
					return printJSON(c.OutOrStdout(), all)
				}
				return report.EachText(c.OutOrStdout(), all)
			}
			comparison, err := compare.RunsBy(runs, baseline, rule)
			if err != nil {
				return usage(err)
			}
			if asJSON {
				for _, w := range comparison.Warnings {
					fmt.Fprintln(c.ErrOrStderr(), "warning:", w)
				}
				return printJSON(c.OutOrStdout(), comparison)
			}
			o := tableOptions(c)
			o.Notes = kernelOf(runs)
			return report.Text(c.OutOrStdout(), comparison, o)
		},
	}
	c.Flags().StringVar(&baseline, "baseline", "", "scheme to compare with (default: the lab's)")
	c.Flags().BoolVar(&each, "each", false, "compare the schemes of each run by itself, and print one table a statistic")
	c.Flags().DurationVar(&rule.Window, "window", 0, "lab time over which goodput is added up for shares, Jain's index and convergence (default: a 200th of the time with flows)")
	completeFlag(c, "baseline", completeBaseline)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// kernelOf is a line that names the kernel which the hosts of all runs had. Where runs
// differ in it, the comparison says so.
func kernelOf(runs []*store.Run) []string {
	line := ""
	for i, r := range runs {
		m := r.Manifest
		guest, own := m.Host.Kernels()
		kernel := ""
		switch {
		case guest != "":
			kernel = "the kernel of all hosts is Linux " + guest + ", of guests"
		case m.OnOwnKernel() && own != "":
			kernel = "the kernel of all hosts is Linux " + own
		}
		if i > 0 && kernel != line {
			return nil
		}
		line = kernel
	}
	if line == "" { // models have none
		return nil
	}
	return []string{line}
}
