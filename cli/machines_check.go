//go:build linux

package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/labs"
	"aqmlab/labs/inventory"
	"aqmlab/orchestrator/machines/check"
	"aqmlab/results"
	"aqmlab/switch/port"
)

func newMachines(kinds port.Kinds) *cobra.Command {
	return group("machines", "Check the machines that labs lie on", newMachinesCheck(kinds))
}

// How long a measurement of throughput may take.
const (
	leastFor   = 10 * time.Millisecond
	defaultFor = time.Second
	mostFor    = time.Minute
)

func newMachinesCheck(kinds port.Kinds) *cobra.Command {
	var path string
	var over time.Duration
	c := shown(&cobra.Command{
		Use:   "check [LAB]",
		Short: "Say what machines have for labs, and measure the network between them",
		Long: `Check looks at each machine of a list as aqmlab doctor looks at this one. Then it
measures between each two of them, one pair after another: the least round-trip time,
how far their clocks are apart, the largest packet that passes, and what one TCP
connection carries each way. Where links are VLANs (key vlans), it tries each of them.

The machines are those of the file that --machines names, or else those of the lab. With
a LAB, its host.mtu must fit between all of them.

It starts a container on each machine, in the network and among the processes of the
machine itself, and removes it at the end. aqmlab's image stays there, as after a run.
Nothing else on the machines is changed; VLANs are made for the time of the check in a
namespace of their own. Do not check machines on which a lab runs: its
figures would suffer.

A machine that does not answer does not keep the others from being looked at. The exit
code is 1 when one does not answer or lacks what labs need, or when two do not reach each
other.`,
		Example: `  aqmlab machines check --machines rack.yaml
  aqmlab machines check mylab.yaml --json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeLabs,
	}, func(c *cobra.Command, words []string) (r check.Report, err error) {
		o := check.Options{Log: c.ErrOrStderr(), Over: over, Note: func(text string) { fmt.Fprintln(c.ErrOrStderr(), text) }}
		if over < leastFor || over > mostFor {
			return r, usage(fmt.Errorf("--for %v: want %v to %v", over, leastFor, mostFor))
		}
		var v inventory.Inventory
		if v, o.MTU, err = machinesToCheck(optional(words, 0), path, kinds); err != nil {
			return r, err
		}
		defer hold(c)()
		if r, err = check.Run(c.Context(), v, o); err == nil && !r.Ready {
			err = exitStatus(exitFailed)
		}
		return r, err
	}, printCheck)
	addMachines(c, &path)
	c.Flags().DurationVar(&over, "for", defaultFor, "how long each measurement of throughput takes")
	return c
}

// machinesToCheck are those of a file or else of a lab, and the lab's host.mtu.
func machinesToCheck(ref, path string, kinds port.Kinds) (v inventory.Inventory, mtu int, err error) {
	lab := new(labs.Lab)
	if ref != "" {
		if lab, err = new(labFlags).load(ref, kinds); err != nil {
			return v, 0, err
		}
	}
	if err := useMachines(lab, path); err != nil {
		return v, 0, err
	}
	switch {
	case len(lab.Rack.Machines) > 0:
		return lab.Rack, lab.Host.MTU, nil
	case ref == "":
		return v, 0, usage(fmt.Errorf("no machines: name a file with them (--machines rack.yaml), or a lab that lists them"))
	}
	return v, 0, usage(listsNoMachines(lab))
}

// printCheck prints what each machine has, and what is between them.
func printCheck(w io.Writer, r check.Report) error {
	for _, m := range r.Machines {
		fmt.Fprintf(w, "%s, %s, %s\n", m.Name, m.Endpoint, m.Address)
		if m.Diagnosis != nil {
			printMachine(w, m.Diagnosis.Machine, "Docker "+m.Docker)
			printFindings(w, m.Diagnosis.Findings)
		}
		if m.Problem != "" {
			fmt.Fprintf(w, "MISSING  %s\n", m.Problem)
		}
		fmt.Fprintln(w)
	}
	if err := printPairs(w, r.Pairs); err != nil {
		return err
	}
	if r.Ready {
		fmt.Fprintln(w, "Labs can lie on these machines.")
		return nil
	}
	_, err := fmt.Fprintln(w, "No lab can lie on all of these machines until what is MISSING is there.")
	return err
}

// printPairs prints a table of what was measured, and below it what that does not say.
func printPairs(w io.Writer, pairs []check.Pair) error {
	if len(pairs) == 0 {
		return nil
	}
	err := columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "FROM\tTO\tRTT\tCLOCK AHEAD BY\tMTU\tLARGEST host.mtu\tGbps\tGbps BACK")
		for _, p := range pairs {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.From, p.To, measuredOr(p.RTT, p.RTT.String()),
				measuredOr(p.RTT, fmt.Sprintf("%v, within %v", p.Ahead.Round(clockDigit), p.Bound)),
				measuredOr(p.MTU, fmt.Sprint(p.MTU)), measuredOr(p.MTU, fmt.Sprint(p.HostMTU)),
				measuredOr(p.Forth, gbps(p.Forth)), measuredOr(p.Back, gbps(p.Back)))
		}
	})
	fmt.Fprintln(w)
	for _, p := range pairs {
		for _, n := range p.Notes {
			fmt.Fprintf(w, "%s and %s: %s\n", p.From, p.To, n)
		}
		if p.Problem != "" {
			fmt.Fprintf(w, "MISSING  %s and %s: %s\n", p.From, p.To, p.Problem)
		}
	}
	return err
}

// clockDigit is the last digit of a clock offset that is printed.
const clockDigit = 100 * time.Nanosecond

// measuredOr is a text, or that there is none where nothing was measured.
func measuredOr[T results.Micros | int | float64](value T, text string) string {
	if value == 0 {
		return "-"
	}
	return text
}

func gbps(bps float64) string { return fmt.Sprintf("%.2f", bps/1e9) }
