package cli

import (
	"aqmlab/orchestrator/bench"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newBench() *cobra.Command {
	return group("bench", "Measure aqmlab itself on this machine", newBenchDatapath(), newBenchCollectors(), newBenchBringUp(), newBenchSim())
}

// benchFlags are common to the benchmarks.
type benchFlags struct {
	rounds int
	json   bool
}

func (f *benchFlags) add(c *cobra.Command, rounds int) {
	c.Flags().IntVar(&f.rounds, "rounds", rounds, "times to measure")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

func (f *benchFlags) check() error {
	if f.rounds < 1 {
		return usage(fmt.Errorf("--rounds %d: want 1 or more", f.rounds))
	}
	return nil
}

func newBenchDatapath() *cobra.Command {
	var f benchFlags
	c := &cobra.Command{
		Use:   "datapath",
		Short: "Compare the switch with a Linux bridge, and a shaped port with theory",
		Long: `Datapath lets two hosts talk through a Linux bridge, through the switch, and
through a shaped port of 1 Gbps, in turns, and prints medians and ranges. Run
it on a machine that does nothing else.`,
		Example: "  sudo aqmlab bench datapath --rounds 5",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			d, err := bench.MeasureDatapath(c.Context(), f.rounds, c.ErrOrStderr())
			if err != nil {
				return explain(err)
			}
			if f.json {
				return printJSON(c.OutOrStdout(), d)
			}
			return printDatapath(c.OutOrStdout(), d)
		},
	}
	f.add(c, 5)
	return c
}

func printDatapath(w io.Writer, d bench.Datapath) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tw, "kernel %s, %s, %s, %s\n\n", d.Machine.Kernel, d.Machine.CPU, plural(d.Machine.Cores, "core"), plural(d.Rounds, "round"))
	fmt.Fprintln(tw, "\tmedian\tmin\tmax")
	row := func(name, format string, s bench.Spread) {
		fmt.Fprintf(tw, "%s\t"+format+"\t"+format+"\t"+format+"\n", name, s.Median, s.Min, s.Max)
	}
	row("bridge, one flow (Gbps)", "%.2f", d.BridgeGbps)
	row("switch, one flow (Gbps)", "%.2f", d.SwitchGbps)
	row("bridge, idle RTT (us)", "%.0f", d.BridgeRTT)
	row("switch, idle RTT (us)", "%.0f", d.SwitchRTT)
	row("shaped to 995 Mbps (Gbps)", "%.4f", d.ShapedGbps)
	row("  share of theory", "%.4f", d.ShareOfTheory)
	row("  lateness p50 (us)", "%.2f", d.LatenessP50)
	row("  lateness p99 (us)", "%.1f", d.LatenessP99)
	row("  share of its CPU", "%.2f", d.Busy)
	fmt.Fprintf(tw, "\nswitch over bridge: %.2f of the goodput, %.1f times the idle RTT\n",
		d.SwitchGbps.Median/d.BridgeGbps.Median, d.SwitchRTT.Median/d.BridgeRTT.Median)
	return tw.Flush()
}

func newBenchBringUp() *cobra.Command {
	var f benchFlags
	var hosts int
	var runtime string
	c := &cobra.Command{
		Use:     "bringup",
		Short:   "Measure how long a star of hosts takes to come up and to go",
		Long:    `Bringup brings up a star with its switch and its agents, and removes it.`,
		Example: "  sudo aqmlab bench bringup --hosts 9\n  sudo aqmlab bench bringup --hosts 9 --runtime docker",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			on, err := staying(runtime, "want")
			if err != nil {
				return err
			}
			b, err := bench.MeasureBringUp(c.Context(), bench.Star{Hosts: hosts, Runtime: on}, f.rounds, c.ErrOrStderr())
			if err != nil {
				return explain(err)
			}
			if f.json {
				return printJSON(c.OutOrStdout(), b)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s, %s: up %.0f ms (%.0f to %.0f), down %.0f ms (%.0f to %.0f)\n", plural(b.Hosts, "host"), plural(b.Rounds, "round"),
				b.Up.Median, b.Up.Min, b.Up.Max, b.Down.Median, b.Down.Min, b.Down.Max)
			return nil
		},
	}
	f.add(c, 5)
	c.Flags().IntVar(&hosts, "hosts", 9, "hosts of the star")
	addStaying(c, &runtime)
	return c
}
