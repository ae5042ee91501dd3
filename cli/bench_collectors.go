package cli

import (
	"aqmlab/orchestrator/bench"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newBenchCollectors() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "collectors",
		Short: "Compare the switch with and without collectors",
		Long: `Collectors lets two hosts talk through the switch with and without what runs
collect beside their flows (queues and goodput over time, at the default
intervals), in turns, and prints medians and ranges. Run it on a machine that does
nothing else.`,
		Example: "  sudo aqmlab bench collectors --rounds 10",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			cost, err := bench.MeasureCollectors(c.Context(), f.rounds, c.ErrOrStderr())
			if err != nil {
				return explain(err)
			}
			if f.json {
				return printJSON(c.OutOrStdout(), cost)
			}
			return printCollectors(c.OutOrStdout(), cost)
		},
	}
	f.add(c, 10)
	return c
}

func printCollectors(w io.Writer, c bench.CollectorsCost) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "kernel %s, %s, %s, %s\n\n", c.Machine.Kernel, c.Machine.CPU, plural(c.Machine.Cores, "core"), plural(c.Rounds, "round"))
	fmt.Fprintln(tw, "one flow through the switch\tmedian\tmin\tmax")
	row := func(name string, s bench.Spread) {
		fmt.Fprintf(tw, "%s\t%.3f\t%.3f\t%.3f\n", name, s.Median, s.Min, s.Max)
	}
	row("without collectors (Gbps)", c.WithoutGbps)
	row("with collectors (Gbps)", c.WithGbps)
	row("with over without, by round", c.Ratio)
	return tw.Flush()
}
