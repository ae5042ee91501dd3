package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"aqmlab/results/report"
	"aqmlab/results/store"
)

func verifyResults() *cobra.Command {
	var root string
	c := shown(&cobra.Command{
		Use:   "verify [RUN...]",
		Short: "Check every file of runs against its checksum",
		Long: `Verify reads all files of runs, by default of all runs, compares them with the
checksums that were noted when they were written, and says which are not whole. It ends
with status 1 if any is not. What older versions stored has no checksums: there it can
only tell whether the files can be read.

RUN is a folder, such as that of a sweep's point, or the name of one below results/runs.`,
		Example: `  aqmlab results verify
  aqmlab results verify latest
  aqmlab results verify results/sweeps/points/*/*`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: completeRuns(&root),
	}, func(_ *cobra.Command, names []string) ([]store.Health, error) {
		dirs, err := runFolders(root, names)
		if err != nil {
			return nil, usage(err)
		}
		all, flaws := []store.Health{}, 0
		for _, dir := range dirs {
			h := store.Verify(dir)
			all, flaws = append(all, h), flaws+len(h.Flaws)
		}
		if flaws > 0 {
			return all, exitStatus(exitFailed)
		}
		return all, nil
	}, printHealth)
	addRunsFlag(c, &root)
	return c
}

// runFolders are those of named runs, or of all.
func runFolders(root string, names []string) (dirs []string, err error) {
	for _, name := range names {
		dir, err := store.Find(root, name)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, dir)
	}
	if len(names) > 0 {
		return dirs, nil
	}
	entries, err := store.List(root)
	for _, e := range entries {
		dirs = append(dirs, e.Dir)
	}
	return dirs, err
}

func printHealth(w io.Writer, all []store.Health) error {
	for _, h := range all {
		state := "whole"
		if len(h.Flaws) > 0 {
			state = "damaged"
		}
		fmt.Fprintf(w, "%s: %s, %s", h.Dir, state, plural(h.Points, "whole point"))
		if h.Unchecked > 0 {
			fmt.Fprintf(w, ", %d of them without checksums (an older version stored them)", h.Unchecked)
		}
		fmt.Fprintln(w)
		for _, f := range h.Flaws {
			fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(f.Why, "\n", "; "))
		}
		if len(h.Flaws) > 0 {
			fmt.Fprintf(w, "  %s\n", store.Remedy(h.Dir))
		}
	}
	return nil
}

func repairResults() *cobra.Command {
	var root string
	var yes, asJSON bool
	c := &cobra.Command{
		Use:   "repair RUN",
		Short: "Drop the damaged points of a run",
		Long: `Repair removes the points of a run that are damaged, after a question on a
terminal, elsewhere only with --yes. The other points stay as they are, and the summary
and the report are made anew. aqmlab run --resume measures again what was removed.

A run whose manifest or lab is damaged cannot be repaired, as nothing else says how its
points were measured.`,
		Example: `  aqmlab results repair latest
  aqmlab results repair --yes 20261121T052116Z-quickstart-e5e09688`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeRuns(&root),
		RunE: func(c *cobra.Command, names []string) error {
			dirs, err := runFolders(root, names)
			if err != nil {
				return usage(err)
			}
			dropped, err := repair(c, dirs[0], yes)
			if err != nil || !asJSON {
				return err
			}
			return printJSON(c.OutOrStdout(), map[string][]string{"dropped": append([]string{}, dropped...)})
		},
	}
	addRunsFlag(c, &root)
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: the points that were dropped")
	return c
}

// repair repairs a run, and returns the points that it dropped.
func repair(c *cobra.Command, dir string, yes bool) ([]string, error) {
	h := store.Verify(dir)
	if err := printHealth(c.ErrOrStderr(), []store.Health{h}); err != nil || len(h.Flaws) == 0 {
		return nil, err
	}
	if !yes {
		if err := confirm(c, fmt.Sprintf("Drop what is damaged of %s?", dir), "--yes"); err != nil {
			return nil, err
		}
	}
	dropped, err := store.Repair(dir, report.Describe)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(c.ErrOrStderr(), "Repaired %s.\n", dir)
	if len(dropped) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "aqmlab run --resume %s measures %s again: %s.\n", dir, plural(len(dropped), "point"), strings.Join(dropped, ", "))
	}
	return dropped, nil
}
