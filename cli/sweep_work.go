package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"aqmlab/orchestrator/sweep"
	"aqmlab/orchestrator/sweep/cluster"
	"aqmlab/switch/port"
)

// newSweepWork is what an engine has run on another machine.
func newSweepWork(kinds port.Kinds) *cobra.Command {
	var o sweep.Options
	c := &cobra.Command{
		Use:    "work SWEEP CHUNK",
		Short:  "Measure a chunk of a stored sweep",
		Hidden: true,
		Args:   cobra.ExactArgs(2),
	}
	dir := c.Flags().String("store", sweepsStore, "folder of the points")
	c.Flags().IntVar(&o.Jobs, "jobs", 0, "points that run at once in virtual time; 0: one a CPU")
	c.RunE = func(c *cobra.Command, words []string) error {
		s := sweepStore(c, *dir, kinds)
		w, err := s.Sweep(words[0])
		if err != nil {
			return err
		}
		o.Log, o.Watch = c.ErrOrStderr(), func(p sweep.Progress) { printProgress(c.ErrOrStderr(), p) }
		if err := cluster.Work(c.Context(), sweep.Job{Store: s, Sweep: w, Options: o}, words[1]); err != nil {
			return fmt.Errorf("chunk %s of sweep %s: %w", words[1], words[0], err)
		}
		return nil
	}
	return c
}
