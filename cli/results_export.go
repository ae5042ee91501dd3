package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aqmlab/results/report"
	"aqmlab/results/store"

	"github.com/spf13/cobra"
)

// exportFlags are those of results export.
type exportFlags struct {
	root, out     string
	tables        []string
	asCSV, asJSON bool
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
			if f.asCSV && f.asJSON {
				return usage(errors.New("--csv and --json: want one of them"))
			}
			runs, err := openRuns(f.root, names)
			if err != nil {
				return err
			}
			return f.export(c, runs[0])
		},
	}
	addRunsFlag(c, &f.root)
	c.Flags().BoolVar(&f.asCSV, "csv", false, "write CSV (the default)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "write JSON: an array with an object a row")
	c.Flags().StringSliceVar(&f.tables, "table", nil, "tables to write: summary, flows, series, ... (default: summary, with --out all)")
	completeFlag(c, "table", cobra.FixedCompletions([]string{report.SummaryTable, "flows", "series", "goodput", "probes", "senders", "estimates"}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().StringVar(&f.out, "out", "", "folder to write a file for each table to, instead of standard output")
	return c
}

func (f exportFlags) format() report.Format {
	if f.asJSON {
		return report.JSON
	}
	return report.CSV
}

func (f exportFlags) export(c *cobra.Command, run *store.Run) error {
	tables := f.tables
	if f.out != "" {
		return f.exportAll(c, run)
	}
	switch len(tables) {
	case 0:
		tables = []string{report.SummaryTable}
	case 1:
	default:
		return usage(errors.New("--table: several tables need a folder: want --out DIR"))
	}
	return f.write(c.OutOrStdout(), run, tables[0])
}

// write marks the name of a table that is not there as the user's to mend.
func (f exportFlags) write(w io.Writer, run *store.Run, table string) error {
	err := report.Export(w, run, table, f.format())
	if errors.Is(err, report.ErrNoTable) {
		return usage(err)
	}
	return err
}

// exportAll writes a file for each table.
func (f exportFlags) exportAll(c *cobra.Command, run *store.Run) error {
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
		path := filepath.Join(f.out, table+"."+string(f.format()))
		file, err := os.Create(path)
		if err != nil {
			return fmt.Errorf("exporting: %w", err)
		}
		if err := errors.Join(f.write(file, run, table), file.Close()); err != nil {
			return errors.Join(err, os.Remove(path))
		}
		fmt.Fprintf(c.ErrOrStderr(), "Wrote %s.\n", path)
	}
	return nil
}
