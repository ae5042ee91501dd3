package results

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SummaryTable is the table of [Run.Export] that is computed: a row for each
// point and class of flows. The others are the Parquet files of the points.
const SummaryTable = "summary"

// Format is how [Run.Export] writes.
type Format string

// The formats.
const (
	CSV  Format = "csv"  // a header, then a line a row; what is null is empty
	JSON Format = "json" // an array with an object a row
)

// ErrNoTable is the error for a table that a run does not have.
var ErrNoTable = errors.New("unknown table")

// Tables lists the tables that a run can export: the summary, and those that any
// of its points has, such as flows and series.
func (r *Run) Tables() ([]string, error) {
	tables := []string{SummaryTable}
	for _, p := range r.points {
		files, err := filepath.Glob(filepath.Join(globbed(p.dir), "*"+tableExt))
		if err != nil {
			return nil, fmt.Errorf("listing the tables of %s: %w", r.Dir, err)
		}
		for _, f := range files {
			if name := strings.TrimSuffix(filepath.Base(f), tableExt); !slices.Contains(tables, name) {
				tables = append(tables, name)
			}
		}
	}
	slices.Sort(tables[1:])
	return tables, nil
}

// globbed keeps the letters of a path from being a pattern.
func globbed(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Export writes a table of all points, point after point. The error for a table
// that the run does not have lists those that it has.
func (r *Run) Export(w io.Writer, table string, as Format) error {
	tables, err := r.Tables()
	if err != nil {
		return err
	}
	if !slices.Contains(tables, table) {
		return fmt.Errorf("run %s: %w %q: want one of %s", filepath.Base(r.Dir), ErrNoTable, table, strings.Join(tables, ", "))
	}
	out := newSink(w, as)
	if table == SummaryTable {
		err = r.exportSummary(out)
	} else {
		err = r.exportTable(out, table+tableExt)
	}
	if err == nil {
		err = out.end()
	}
	if err != nil {
		return fmt.Errorf("exporting %s of run %s: %w", table, filepath.Base(r.Dir), err)
	}
	return nil
}

// exportSummary writes what summary.json has of each point, a row a class.
func (r *Run) exportSummary(out sink) error {
	err := out.header([]string{
		"scheme", "load", "seed", "class", "count", "mean_us", "p50_us", "p95_us", "p99_us", "p999_us",
		"flows", "completed", "marks", "drops", "timeouts", "goodput_gbps", "fidelity",
	})
	if err != nil {
		return err
	}
	for _, s := range r.points {
		p, err := s.ReadFlows()
		if err != nil {
			return err
		}
		j := JSONOf(p)
		if j.QCT != nil {
			j.FCT[Queries] = *j.QCT
		}
		for _, c := range append(Classes(), Queries) {
			f, ok := j.FCT[c]
			if !ok {
				continue
			}
			row := []any{j.Scheme, j.Load, j.Seed, string(c), int64(f.Count), f.Mean, f.P50, f.P95, f.P99, f.P999}
			if f.Count == 0 {
				copy(row[5:], []any{nil, nil, nil, nil, nil})
			}
			err := out.row(append(row, int64(j.Flows), int64(j.Completed), j.Marks, j.Drops, j.Timeouts, j.Goodput, j.Fidelity.Label))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// exportTable writes the files of that name. Points that other versions measured
// may have other columns: the header has all, and what a point lacks is null.
func (r *Run) exportTable(out sink, file string) error {
	var names, paths []string
	for _, p := range r.points {
		path := filepath.Join(p.dir, file)
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue // not every point has a probe, for example
		}
		columns, err := columnsOf(path)
		if err != nil {
			return err
		}
		paths = append(paths, path)
		for _, c := range columns {
			if !slices.Contains(names, c) {
				names = append(names, c)
			}
		}
	}
	if err := out.header(names); err != nil {
		return err
	}
	for _, path := range paths {
		if err := eachRow(path, names, out.row); err != nil {
			return err
		}
	}
	return nil
}
