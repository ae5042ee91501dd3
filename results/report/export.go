package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/compare"
	"aqmlab/results/store"
)

// SummaryTable is the table of [Export] that is computed: a row for each
// point and class of flows. The others are the Parquet files of the points.
const SummaryTable = "summary"

// CoexistenceTable is the other one: a row for each value of how parties of a point share
// the network.
const CoexistenceTable = "coexistence"

// ErrNoTable is the error for a table that a run does not have.
var ErrNoTable = errors.New("unknown table")

// Tables lists the tables that a run can export: the summary, and those that any
// of its points has, such as flows and series.
func Tables(r *store.Run) ([]string, error) {
	var stored []string
	for _, p := range r.Points() {
		tables, err := p.Tables()
		if err != nil {
			return nil, err
		}
		stored = append(stored, tables...)
	}
	slices.Sort(stored)
	return append([]string{SummaryTable, CoexistenceTable}, slices.Compact(stored)...), nil
}

// Export writes a table of all points, point after point. The error for a table
// that the run does not have lists those that it has.
func Export(w io.Writer, r *store.Run, table string, as Format) error {
	tables, err := Tables(r)
	if err != nil {
		return err
	}
	if !slices.Contains(tables, table) {
		return fmt.Errorf("run %s: %w %q: want one of %s", filepath.Base(r.Dir), ErrNoTable, table, strings.Join(tables, ", "))
	}
	out := newSink(w, as)
	switch table {
	case SummaryTable:
		err = exportSummary(out, r)
	case CoexistenceTable:
		err = exportCoexistence(out, r)
	default:
		err = exportTable(out, r, table)
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
func exportSummary(out sink, r *store.Run) error {
	err := out.header([]string{
		"scheme", "load", "seed", "class", "count", "mean_us", "p50_us", "p95_us", "p99_us", "p999_us",
		"flows", "completed", "marks", "drops", "timeouts", "goodput_gbps", "fidelity",
	})
	if err != nil {
		return err
	}
	for _, s := range r.Points() {
		p, err := s.ReadFlows()
		if err != nil {
			return err
		}
		j := compare.PointJSONOf(p)
		if j.QCT != nil {
			j.FCT[results.Queries] = *j.QCT
		}
		for _, c := range append(results.Classes(), results.Queries) {
			f, ok := j.FCT[c]
			if !ok {
				continue
			}
			row := []any{j.Scheme, j.Load, j.Seed, string(c), int64(f.Count), f.Mean, f.P50, f.P95, f.P99, f.P999}
			if f.Count == 0 {
				copy(row[5:], []any{nil, nil, nil, nil, nil})
			}
			err := out.row(append(row, int64(j.Flows), int64(j.Completed), counted(j.Marks), counted(j.Drops), counted(j.Timeouts), j.Goodput, j.Fidelity.Label))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// counted is a count, or nil where nobody made it.
func counted(n int64) any {
	if n == results.Unknown {
		return nil
	}
	return n
}

// exportCoexistence writes the values of all points that can be judged.
func exportCoexistence(out sink, r *store.Run) error {
	if err := out.header([]string{"scheme", "load", "seed", "measure", "of", "value", "unit"}); err != nil {
		return err
	}
	points, err := r.ReadFlows()
	if err != nil {
		return err
	}
	judged, blind := compare.Judge([]*store.Run{r}, points, coexist.Usual())
	if len(blind) > 0 {
		return errors.New(blind[0])
	}
	for i, p := range points {
		if judged[i] == nil {
			continue
		}
		for _, v := range judged[i].Values {
			m, _ := coexist.MeasureOf(v.Measure)
			if err := out.row([]any{p.Scheme, p.Load, p.Seed, v.Measure, v.Of, v.Value, m.Unit}); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportTable writes the tables of that name. Points that other versions measured
// may have other columns: the header has all, and what a point lacks is null.
func exportTable(out sink, r *store.Run, table string) error {
	var names []string
	for _, p := range r.Points() {
		columns, err := p.Columns(table)
		if err != nil {
			return err
		}
		names = append(names, columns...)
	}
	names = results.Distinct(names, func(name string) string { return name })
	if err := out.header(names); err != nil {
		return err
	}
	for _, p := range r.Points() {
		if err := p.EachRow(table, names, out.row); err != nil {
			return err
		}
	}
	return nil
}

// Format is how [Export] writes.
type Format string

// The formats.
const (
	CSV  Format = "csv"  // a header, then a line a row; what is null is empty
	JSON Format = "json" // an array with an object a row
)

// sink takes a table row by row. A value is nil, a bool, an int64, a uint64, a
// float64 or a string.
type sink interface {
	header(names []string) error
	row(values []any) error
	end() error
}

func newSink(w io.Writer, as Format) sink {
	if as == JSON {
		return &jsonSink{w: bufio.NewWriter(w)}
	}
	return &csvSink{w: csv.NewWriter(w)}
}

type csvSink struct {
	w    *csv.Writer
	line []string
}

var _ sink = (*csvSink)(nil)

func (s *csvSink) header(names []string) error { return s.w.Write(names) }

func (s *csvSink) row(values []any) error {
	s.line = s.line[:0]
	for _, v := range values {
		s.line = append(s.line, csvText(v))
	}
	return s.w.Write(s.line)
}

func (s *csvSink) end() error {
	s.w.Flush()
	return s.w.Error()
}

// csvText prints numbers so that they read back as the same.
func csvText(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(value)
}

// jsonSink keeps the columns of an object in the order of the header, which a
// map would lose.
type jsonSink struct {
	w     *bufio.Writer
	names [][]byte
	rows  int
}

var _ sink = (*jsonSink)(nil)

func (s *jsonSink) header(names []string) error {
	for _, n := range names {
		b, err := json.Marshal(n)
		if err != nil {
			return err
		}
		s.names = append(s.names, b)
	}
	_, err := s.w.WriteString("[")
	return err
}

func (s *jsonSink) row(values []any) error {
	before := ",\n {"
	if s.rows == 0 {
		before = "\n {"
	}
	s.rows++
	s.w.WriteString(before)
	for i, v := range values {
		b, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if i > 0 {
			s.w.WriteString(", ")
		}
		s.w.Write(s.names[i])
		s.w.WriteString(": ")
		s.w.Write(b)
	}
	_, err := s.w.WriteString("}") // reports what failed before, too
	return err
}

func (s *jsonSink) end() error {
	s.w.WriteString("\n]\n")
	return s.w.Flush()
}
