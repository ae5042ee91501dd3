//go:build linux

package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator"
	"aqmlab/orchestrator/backend"
	"aqmlab/orchestrator/bench"
	"aqmlab/results"
)

func newBench() *cobra.Command {
	return group("bench", "Measure aqmlab itself on this machine", newBenchDatapath(), newBenchCollectors(), newBenchBringUp(), newBenchSim())
}

// measured makes a command measure something that many times, unless the user says
// otherwise, and print it.
func measured[T any](c *cobra.Command, rounds int, measure func(c *cobra.Command, rounds int) (T, error), print func(io.Writer, T) error) *cobra.Command {
	c.Flags().IntVar(&rounds, "rounds", rounds, "times to measure")
	return shown(c, func(c *cobra.Command, _ []string) (found T, err error) {
		if rounds < 1 {
			return found, usage(fmt.Errorf("--rounds %d: want 1 or more", rounds))
		}
		defer hold(c)()
		found, err = measure(c, rounds)
		return found, explain(err)
	}, print)
}

func newBenchDatapath() *cobra.Command {
	return confined(measured(&cobra.Command{
		Use:   "datapath",
		Short: "Compare the switch with a Linux bridge, and a shaped port with theory",
		Long: `Datapath lets two hosts talk through a Linux bridge, through the switch with dwrr and
tcn, and through a shaped port of 1 Gbps, in turns, and prints medians and ranges. Run
it on a machine that does nothing else.`,
		Example: "  sudo aqmlab bench datapath --rounds 5",
	}, 5, func(c *cobra.Command, rounds int) (bench.Datapath, error) {
		return bench.MeasureDatapath(c.Context(), rounds, c.ErrOrStderr())
	}, printDatapath), defaultStay)
}

func printDatapath(w io.Writer, d bench.Datapath) error {
	return columns(w, func(w io.Writer) {
		row := printSpreads(w, d.Machine, d.Rounds, "")
		row("bridge, one flow (Gbps)", "%.2f", d.BridgeGbps)
		row("switch, one flow (Gbps)", "%.2f", d.SwitchGbps)
		row("bridge, idle RTT (us)", "%.0f", d.BridgeRTT)
		row("switch, idle RTT (us)", "%.0f", d.SwitchRTT)
		row("shaped to 995 Mbps (Gbps)", "%.4f", d.ShapedGbps)
		row("  share of theory", "%.4f", d.ShareOfTheory)
		row("  lateness p50 (us)", "%.2f", d.LatenessP50)
		row("  lateness p99 (us)", "%.1f", d.LatenessP99)
		row("  share of its CPU", "%.2f", d.Busy)
		fmt.Fprintf(w, "\nswitch over bridge: %.2f of the goodput, %.1f times the idle RTT\n",
			d.SwitchGbps.Median/d.BridgeGbps.Median, d.SwitchRTT.Median/d.BridgeRTT.Median)
		for _, cpu := range d.PollsOn {
			fmt.Fprintf(w, "The switch polls on CPU %d. All hosts, and the bridge, have the others.\n", cpu)
		}
		if d.GaveWay > 0 {
			fmt.Fprintf(w, "In %s it slept, because other programs wanted that CPU.\n", plural(d.GaveWay, "turn"))
		}
		if len(d.PollsOn) == 0 {
			fmt.Fprintln(w, "The switch has no CPU of its own to poll on, and sleeps between packets.")
		}
	})
}

// printSpreads begins a table of spreads of that title, and returns what adds a row.
func printSpreads(w io.Writer, m results.Machine, rounds int, title string) (row func(name, format string, s bench.Spread)) {
	fmt.Fprintf(w, "kernel %s, %s, %s, %s\n\n", m.Kernel, m.CPU, plural(m.Cores, "core"), plural(rounds, "round"))
	fmt.Fprintf(w, "%s\tmedian\tmin\tmax\n", title)
	return func(name, format string, s bench.Spread) {
		fmt.Fprintf(w, "%s\t"+format+"\t"+format+"\t"+format+"\n", name, s.Median, s.Min, s.Max)
	}
}

func newBenchBringUp() *cobra.Command {
	var star bench.Star
	var runtime string
	c := measured(&cobra.Command{
		Use:     "bringup",
		Short:   "Measure how long a star of hosts takes to come up and to go",
		Long:    `Bringup brings up a star with its switch and its agents, and removes it.`,
		Example: "  sudo aqmlab bench bringup --hosts 9\n  sudo aqmlab bench bringup --hosts 9 --runtime docker",
	}, 5, func(c *cobra.Command, rounds int) (b bench.BringUp, err error) {
		if star.Runtime, err = staying(runtime, "want"); err != nil {
			return b, err
		}
		return bench.MeasureBringUp(c.Context(), star, rounds, c.ErrOrStderr())
	}, func(w io.Writer, b bench.BringUp) error {
		fmt.Fprintf(w, "%s, %s: up %.0f ms (%.0f to %.0f), down %.0f ms (%.0f to %.0f)\n", plural(b.Hosts, "host"), plural(b.Rounds, "round"),
			b.Up.Median, b.Up.Min, b.Up.Max, b.Down.Median, b.Down.Min, b.Down.Max)
		return nil
	})
	c.Flags().IntVar(&star.Hosts, "hosts", 9, "hosts of the star")
	addStaying(c, &runtime)
	return confined(c, func() backend.Facts { return orchestrator.Runtime(runtime).Facts() })
}

// defaultStay is what benchmarks of hosts that are up run on.
func defaultStay() backend.Facts { return orchestrator.Runtime(stayRuntimes()[0]).Facts() }

func newBenchCollectors() *cobra.Command {
	return confined(measured(&cobra.Command{
		Use:   "collectors",
		Short: "Compare the switch with and without collectors",
		Long: `Collectors lets two hosts talk through the switch with and without what runs
collect beside their flows (queues and goodput over time, at the default
intervals), in turns, and prints medians and ranges. Run it on a machine that does
nothing else.`,
		Example: "  sudo aqmlab bench collectors --rounds 10",
	}, 10, func(c *cobra.Command, rounds int) (bench.CollectorsCost, error) {
		return bench.MeasureCollectors(c.Context(), rounds, c.ErrOrStderr())
	}, printCollectors), defaultStay)
}

func printCollectors(w io.Writer, c bench.CollectorsCost) error {
	return columns(w, func(w io.Writer) {
		row := printSpreads(w, c.Machine, c.Rounds, "one flow through the switch")
		row("without collectors (Gbps)", "%.3f", c.WithoutGbps)
		row("with collectors (Gbps)", "%.3f", c.WithGbps)
		row("with over without, by round", "%.3f", c.Ratio)
	})
}

func newBenchSim() *cobra.Command {
	threads := 1
	c := &cobra.Command{
		Use:   "sim",
		Short: "Measure how fast simulations run on one core, and on several",
		Long: `Sim runs the same DCTCP traffic through simulated networks of several sizes, one
after another on one core, and prints what a million delivered data packets,
and a packet's way over one link, cost. With --threads, each simulation also runs
on so many cores, in turn with one. Run it on a machine that does nothing else.`,
		Example: "  aqmlab bench sim --rounds 3\n  aqmlab bench sim --threads 2",
	}
	c = measured(c, 3, func(c *cobra.Command, rounds int) (bench.Simulations, error) {
		if threads < 1 {
			return bench.Simulations{}, usage(fmt.Errorf("--threads %d: want 1 or more", threads))
		}
		return bench.MeasureSimulations(c.Context(), rounds, threads)
	}, printSim)
	c.Flags().IntVar(&threads, "threads", 1, "cores for each simulation, beside one")
	return c
}

// speedup is what threads gain a scenario, in words.
func speedup(s bench.SimSpeed) string {
	if s.Parts < 2 {
		return "one part"
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", s.Speedup.Median, s.Speedup.Min, s.Speedup.Max)
}

func printSim(w io.Writer, b bench.Simulations) error {
	fmt.Fprintf(w, "%s, %s, %s; medians and ranges\n\n", b.Machine.CPU, b.Machine.GoVersion, plural(b.Rounds, "round"))
	return numbers(w, func(w io.Writer) {
		fmt.Fprint(w, "scenario\tdata packets\ts per million\tns per hop\tevents per packet\tMevents/s\tpeak MB\t")
		if b.Threads > 1 {
			fmt.Fprintf(w, "one thread over %d\t", b.Threads)
		}
		fmt.Fprintln(w)
		for _, s := range b.Scenarios {
			fmt.Fprintf(w, "%s\t%d\t%.2f (%.2f-%.2f)\t%.0f (%.0f-%.0f)\t%.1f\t%.1f\t%.0f\t", s.Name, s.Packets,
				s.PerMillion.Median, s.PerMillion.Min, s.PerMillion.Max,
				s.PerHop.Median, s.PerHop.Min, s.PerHop.Max,
				float64(s.Events)/float64(s.Packets), s.EventsPerSec.Median/1e6, s.MemoryMB)
			if b.Threads > 1 {
				fmt.Fprint(w, speedup(s), "\t")
			}
			fmt.Fprintln(w)
		}
	})
}
