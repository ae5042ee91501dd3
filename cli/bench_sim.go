package cli

import (
	"aqmlab/orchestrator/bench"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newBenchSim() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "sim",
		Short: "Measure how fast simulations run on one core",
		Long: `Sim runs the same DCTCP traffic through simulated networks of several sizes, one
after another on one core, and prints what a million delivered data packets,
and a packet's way over one link, cost. Run it on a machine that does nothing
else.`,
		Example: "  aqmlab bench sim --rounds 3",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			b, err := bench.MeasureSimulations(c.Context(), f.rounds)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(c.OutOrStdout(), b)
			}
			return printSim(c.OutOrStdout(), b)
		},
	}
	f.add(c, 3)
	return c
}

func printSim(w io.Writer, b bench.Simulations) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s, %s, %s; medians and ranges\n\n", b.Machine.CPU, b.Machine.GoVersion, plural(b.Rounds, "round"))
	fmt.Fprintln(tw, "scenario\tdata packets\ts per million\tns per hop\tevents per packet\tMevents/s\tpeak MB\t")
	for _, s := range b.Scenarios {
		fmt.Fprintf(tw, "%s\t%d\t%.2f (%.2f-%.2f)\t%.0f (%.0f-%.0f)\t%.1f\t%.1f\t%.0f\t\n", s.Name, s.Packets,
			s.PerMillion.Median, s.PerMillion.Min, s.PerMillion.Max,
			s.PerHop.Median, s.PerHop.Min, s.PerHop.Max,
			float64(s.Events)/float64(s.Packets), s.EventsPerSec.Median/1e6, s.MemoryMB)
	}
	return tw.Flush()
}
