package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"aqmlab/results"
	"aqmlab/results/compare"
	"aqmlab/results/report"
	"aqmlab/results/report/layout"
	"aqmlab/results/store"
)

func newResults() *cobra.Command {
	return group("results", "The runs that are stored: list, show, verify, repair, remove, export, import",
		listResults(), showResults(), verifyResults(), repairResults(), removeResults(), exportResults(), importResults())
}

func listResults() *cobra.Command {
	var root string
	c := shown(&cobra.Command{
		Use:   "list",
		Short: "List the runs, the newest last",
		Long: `List shows every run with its state:

  complete     every point is there
  partial      ended early, and says why; the points that are there are whole
  interrupted  its process was killed; the points that are there are whole
  broken       something that it should have is missing or cannot be read
  running      still being made

A partial or interrupted run goes on with aqmlab run --resume RUN. What is left of a run
that was killed before it had begun is removed.`,
		Example: `  aqmlab results list
  aqmlab results list --in reproduce/record/tcn-fig6 --json`,
	}, func(c *cobra.Command, _ []string) ([]store.Entry, error) {
		store.Tidy(root)
		entries, err := store.List(root)
		if err == nil && len(entries) == 0 && !c.Flags().Changed("json") {
			fmt.Fprintf(c.ErrOrStderr(), "No runs in %s.\n", root)
		}
		return append([]store.Entry{}, entries...), err
	}, printRuns)
	addRunsFlag(c, &root)
	return c
}

// printRuns prints a line a run, and below it why it is not complete.
func printRuns(w io.Writer, entries []store.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	return columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "RUN\tSTATE\tPOINTS\tRUNTIME")
		for _, e := range entries {
			points := fmt.Sprintf("%d of %d", e.Points, e.Planned)
			if e.Planned == 0 {
				points = "-"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", shownName(e), e.State, points, cmp.Or(e.Runtime, "-"))
			if e.Reason != "" {
				fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(e.Reason, "\n", "; "))
			}
		}
	})
}

// shownRun is what results show prints of a run.
type shownRun struct {
	store.Entry
	Manifest results.Manifest    `json:"manifest"`
	Runs     []compare.PointJSON `json:"runs"`
}

func showResults() *cobra.Command {
	var root string
	c := shown(&cobra.Command{
		Use:   "show RUN",
		Short: "Show what made a run, and what its points measured",
		Long: `Show prints what made a run and where, and a line for each of its points. RUN
is a folder, or the name of one below results/runs; latest is the newest.
(aqmlab compare RUN compares its schemes.)`,
		Example: `  aqmlab results show latest
  aqmlab results show latest --json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeRuns(&root),
	}, func(c *cobra.Command, names []string) (shownRun, error) {
		runs, err := openRuns(root, names)
		if err != nil {
			return shownRun{}, err
		}
		for _, line := range damageOf(runs[0]) {
			fmt.Fprintln(c.ErrOrStderr(), "warning:", line)
		}
		j, err := report.RunJSONOf(runs[0].Sound(readable))
		return shownRun{store.EntryOf(runs[0].Dir), runs[0].Manifest, j.Runs}, err
	}, printShown)
	addRunsFlag(c, &root)
	return c
}

// readable tells whether the flows of a point can be read.
func readable(p store.Point) error {
	_, err := p.ReadFlows()
	return err
}

// damageOf says which points of a run are not shown, and why.
func damageOf(r *store.Run) (lines []string) {
	for _, d := range r.Sound(readable).Damaged() {
		lines = append(lines, fmt.Sprintf("point %s is damaged and not shown: %v; %s", d.Folder, d.Err, store.Remedy(r.Dir)))
	}
	return lines
}

func printShown(w io.Writer, s shownRun) error {
	m := s.Manifest
	err := columns(w, func(w io.Writer) {
		fmt.Fprintf(w, "folder\t%s\nstate\t%s\n", s.Dir, s.State)
		if s.Reason != "" {
			fmt.Fprintf(w, "why\t%s\n", strings.ReplaceAll(s.Reason, "\n", "; "))
		}
		fmt.Fprintf(w, "lab\t%s (%.8s)\n", m.Lab, m.LabHash)
		fmt.Fprintf(w, "runtime\t%s, dilation %g, %s from %s\n", m.Runtime, m.Dilation, m.Transport.Name, m.Transport.Provider)
		for _, s := range m.Transports {
			fmt.Fprintf(w, "transport\t%v\n", s)
		}
		fmt.Fprintf(w, "machine\t%d cores, %s, Linux %s\n", m.Host.Cores, cmp.Or(m.Host.CPU, "-"), cmp.Or(m.Host.Kernel, "-"))
		fmt.Fprintf(w, "program\taqmlab %s, revision %s\n", m.Version, m.GitRevision)
		fmt.Fprintf(w, "begun\t%s\n", m.Start.Format(time.RFC3339))
		if !m.End.IsZero() {
			fmt.Fprintf(w, "ended\t%s\n", m.End.Format(time.RFC3339))
		}
		fmt.Fprintf(w, "points\t%d of %d\n", s.Points, s.Planned)
		for _, line := range results.DerivedLines(m.Derived) {
			fmt.Fprintf(w, "derived\t%s\n", line)
		}
	})
	if err != nil {
		return err
	}
	return printPoints(w, s.Runs)
}

func printPoints(w io.Writer, points []compare.PointJSON) error {
	return columns(w, func(w io.Writer) {
		fmt.Fprintln(w, "\nSCHEME\tLOAD\tSEED\tCOMPLETED\tAVG\tSMALL P99\tMARKS\tDROPS\tFIDELITY")
		for _, p := range points {
			fmt.Fprintf(w, "%s\t%g\t%d\t%d of %d\t%s\t%s\t%s\t%s\t%s\n", p.Scheme, p.Load, p.Seed, p.Completed, p.Flows,
				timeText(p.FCT[results.All].Mean, p.FCT[results.All].Count),
				timeText(p.FCT[results.Small].P99, p.FCT[results.Small].Count), layout.Count(p.Marks), layout.Count(p.Drops), cmp.Or(p.Fidelity.Label, "-"))
		}
	})
}

// timeText prints microseconds, of so many flows.
func timeText(us float64, flows int) string {
	if flows == 0 {
		return "-"
	}
	return time.Duration(us * float64(time.Microsecond)).Round(100 * time.Nanosecond).String()
}

func removeResults() *cobra.Command {
	var root string
	var force, asJSON bool
	c := &cobra.Command{
		Use:   "rm RUN...",
		Short: "Remove runs",
		Long: `Rm removes the folders of runs, after a question on a terminal, elsewhere only
with --force. It removes nothing but runs: a folder that is no run's, that has
files of somebody else in it, or that is still being made is refused, with or
without --force, and then none of those named is removed.`,
		Example: `  aqmlab results rm 20261121T052116Z-quickstart-e5e09688
  aqmlab results rm --force results/runs/20261121T052116Z-quickstart-e5e09688`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeRuns(&root),
		RunE: func(c *cobra.Command, names []string) error {
			dirs, err := removable(root, names)
			if err != nil {
				return usage(err)
			}
			if !force {
				if err := confirm(c, fmt.Sprintf("Remove %s?", strings.Join(dirs, ", ")), "--force"); err != nil {
					return err
				}
			}
			for _, dir := range dirs {
				if err := store.Remove(dir); err != nil {
					return err
				}
				fmt.Fprintf(c.ErrOrStderr(), "Removed %s.\n", dir)
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), map[string][]string{"removed": dirs})
			}
			return nil
		},
	}
	addRunsFlag(c, &root)
	c.Flags().BoolVarP(&force, "force", "f", false, "do not ask")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON: the folders that were removed")
	return c
}

// removable finds the folders of runs, once each, and refuses what is none.
func removable(root string, names []string) ([]string, error) {
	var dirs []string
	for _, name := range names {
		dir, err := store.Find(root, name)
		if err != nil {
			return nil, err
		}
		if err := store.CheckRemovable(dir); err != nil {
			return nil, err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// confirm asks on a terminal. Elsewhere a flag says yes.
func confirm(c *cobra.Command, question, flag string) error {
	if !isTerminal(c.InOrStdin()) {
		return usage(fmt.Errorf("it needs %s where there is no terminal to ask on", flag))
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s [y/N] ", question)
	answer, err := bufio.NewReader(c.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("reading the answer: %w", err)
	}
	if c.Context().Err() != nil {
		return context.Cause(c.Context()) // too late: the user has said no
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was removed")
}

// exportFlags are those of results export.
type exportFlags struct {
	root, out     string
	tables        []string
	asCSV, asJSON bool
	format        report.Format // that they stand for
}

func exportResults() *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write the tables of a run as CSV or JSON",
		Long: `Export writes tables of a run: the summary (a row for each point and class of
flows), and those that its points have, such as flows and series. One table goes
to standard output; with --out, each goes to a file of its name in that folder,
by default all of them. Columns are explained in docs/results.md.

The flows of one point, with --table flows, can be replayed: see workload.arrival
in docs/labs.md.`,
		Example: `  aqmlab results export latest --csv
  aqmlab results export latest --csv --table flows > flows.csv
  aqmlab results export latest --json --out exported`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeRuns(&f.root),
		RunE: func(c *cobra.Command, names []string) error {
			switch f.format = report.CSV; {
			case f.asCSV && f.asJSON:
				return usage(errors.New("--csv and --json: want one of them"))
			case f.asJSON:
				f.format = report.JSON
			}
			runs, err := openRuns(f.root, names)
			if err != nil {
				return err
			}
			for _, d := range runs[0].Damaged() {
				return fmt.Errorf("exporting: point %s is damaged: %w; %s", d.Folder, d.Err, store.Remedy(runs[0].Dir))
			}
			return f.export(c, runs[0])
		},
	}
	addRunsFlag(c, &f.root)
	c.Flags().BoolVar(&f.asCSV, "csv", false, "write CSV (the default)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write JSON: an array with an object a row")
	c.Flags().StringSliceVar(&f.tables, "table", nil, "tables to write: summary, flows, series, ... (default: summary, with --out all)")
	completeFlag(c, "table", cobra.FixedCompletions([]string{report.SummaryTable, report.CoexistenceTable, "flows", "series", "goodput", "probes", "senders", "estimates", "delays"}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&f.out, "out", "", "folder to write a file for each table to, instead of standard output")
	return c
}

func (f exportFlags) export(c *cobra.Command, run *store.Run) error {
	switch {
	case f.out != "":
		return f.exportAll(c, run)
	case len(f.tables) > 1:
		return usage(errors.New("--table: several tables need a folder: want --out DIR"))
	}
	return f.write(c.OutOrStdout(), run, append(f.tables, report.SummaryTable)[0])
}

// write marks the name of a table that is not there as the user's to mend.
func (f exportFlags) write(w io.Writer, run *store.Run, table string) error {
	err := report.Export(w, run, table, f.format)
	if errors.Is(err, report.ErrNoTable) {
		return usage(err)
	}
	return err
}

// exportAll writes a file for each table. An interruption removes the one that it cuts
// short.
func (f exportFlags) exportAll(c *cobra.Command, run *store.Run) error {
	defer hold(c)()
	tables := f.tables
	if len(tables) == 0 {
		var err error
		if tables, err = report.Tables(run); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	for _, table := range tables {
		path := filepath.Join(f.out, table+"."+string(f.format))
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("exporting: %w", err)
		}
		if err := errors.Join(f.write(heeding{c.Context(), file}, run, table), file.Close()); err != nil {
			return errors.Join(err, os.Remove(path))
		}
		fmt.Fprintf(c.ErrOrStderr(), "Wrote %s.\n", path)
	}
	return nil
}
