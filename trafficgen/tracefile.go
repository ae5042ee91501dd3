package trafficgen

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"aqmlab/bounded"
	"aqmlab/bounded/parquetfile"
	"aqmlab/results"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Most bytes of a trace, and of a line of it.
const (
	maxTrace = 2 << 30
	maxLine  = 1 << 16
)

// readAny reads a trace in either format, which it knows by its first bytes.
// Errors begin with a colon.
func readAny(in io.Reader) ([]row, error) {
	const magic = "PAR1"
	b := bufio.NewReader(in)
	if begin, err := b.Peek(len(magic)); err != nil || string(begin) != magic {
		return readTrace(b)
	}
	if f, ok := in.(*os.File); ok {
		info, err := f.Stat()
		if err != nil {
			return nil, fmt.Errorf(": %w", err)
		}
		return readParquet(f, info.Size())
	}
	whole, err := bounded.ReadAll(b, maxTrace)
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return readParquet(bytes.NewReader(whole), int64(len(whole)))
}

// readTrace reads a CSV file, in which # starts a comment.
func readTrace(in io.Reader) ([]row, error) {
	r := csv.NewReader(bounded.Lines(in, maxTrace, maxLine))
	r.Comment, r.TrimLeadingSpace, r.ReuseRecord = '#', true, true
	var t *traceTable
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t.done()
		} else if err != nil {
			return nil, fmt.Errorf(": %w", err)
		}
		line, _ := r.FieldPos(0)
		if t == nil {
			t, err = newTable(record, slices.Contains(record, flowID))
		} else {
			err = t.add(fmt.Sprintf("line %d", line), record)
		}
		if err != nil {
			return nil, fmt.Errorf(":%d: %w", line, err)
		}
	}
}

// readParquet reads a Parquet file. Columns that a trace does not have are left
// alone.
func readParquet(in io.ReaderAt, size int64) (rows []row, err error) {
	// The library panics on some damaged files.
	defer func() {
		if r := recover(); r != nil {
			rows, err = nil, fmt.Errorf(": cut short or damaged: %v", r)
		}
	}()
	f, err := parquetfile.Open(in, size)
	if err != nil {
		return nil, fmt.Errorf(": cut short or damaged: %w", err)
	}
	if err := results.CheckTable(f.Lookup); err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	var names []string
	for _, path := range f.Schema().Columns() {
		names = append(names, strings.Join(path, "."))
	}
	t, err := newTable(names, true)
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	for _, group := range f.RowGroups() {
		if err := t.addGroup(group); err != nil {
			return nil, err
		}
	}
	return t.done()
}

// addGroup adds the rows of one group of a Parquet file.
func (t *traceTable) addGroup(group parquet.RowGroup) error {
	in := group.Rows()
	defer in.Close()
	batch, record := make([]parquet.Row, 256), make([]string, len(t.columns))
	for {
		n, err := in.ReadRows(batch)
		for _, values := range batch[:n] {
			clear(record)
			for _, v := range values {
				if at := v.Column(); !v.IsNull() && t.columns[at].read != nil {
					record[at] = v.String()
				}
			}
			place := fmt.Sprintf("row %d", len(t.rows)+1)
			if err := t.add(place, record); err != nil {
				return fmt.Errorf(": %s: %w", place, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf(": cut short or damaged: %w", err)
		}
	}
}

// traceTable gathers the flows of a file.
type traceTable struct {
	columns []traceColumn
	rows    []row
	point   map[string]string // of the first row: its scheme, load and seed
}

// newTable wants the header of a trace. Others says whether the file may have
// columns of which a trace knows nothing.
func newTable(names []string, others bool) (*traceTable, error) {
	columns, err := header(names, others)
	return &traceTable{columns: columns, point: make(map[string]string)}, err
}

// add takes a row apart.
func (t *traceTable) add(place string, record []string) error {
	made := row{place: place}
	for i, text := range record {
		c := t.columns[i]
		if c.read == nil {
			continue
		}
		if err := c.read(&made, c.name, strings.TrimSpace(text)); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if !c.point {
			continue
		}
		if before, ok := t.point[c.name]; ok && before != text {
			return fmt.Errorf("it is of %s %s, those before of %s: want the flows of one point", c.name, text, before)
		}
		t.point[c.name] = text
	}
	if err := made.check(); err != nil {
		return err
	}
	t.rows = append(t.rows, made)
	return nil
}

// check tells what does not fit together. Of a flow that stops, a record has what
// it had sent by then; the server's application would send on.
func (r *row) check() error {
	switch {
	case r.Client == r.Server:
		return fmt.Errorf("host %d is both client and server", r.Client)
	case r.Stop == 0 && r.Bytes == 0:
		return errors.New(`bytes: "0" is not ` + wantBytes)
	case r.Stop != 0 && r.Stop <= r.Start:
		return fmt.Errorf("stop_ns: %v is not above the start, %v", r.Stop, r.Start)
	case r.Stop != 0:
		r.Bytes = traffic.MaxBytes
	}
	return nil
}

// done are the flows, those that start together in the order of their numbers.
func (t *traceTable) done() ([]row, error) {
	if t == nil || len(t.rows) == 0 {
		return nil, errors.New(": there are no flows")
	}
	slices.SortStableFunc(t.rows, func(a, b row) int { return cmp.Compare(a.ID, b.ID) })
	return t.rows, nil
}

// traceColumn is a column that a trace may have, under one of several names.
type traceColumn struct {
	name  string // that the file has for it
	names []string
	must  bool
	point bool                                  // it has one value in all rows
	read  func(r *row, name, text string) error // nil for a column that is ignored
}

// flowID is the column that the records of a run have, and no other trace.
const flowID = "flow_id"

// knownColumns lists the columns. A file has each under one of its names.
func knownColumns() []traceColumn {
	const number, largest = "a whole number from 0", math.MaxInt64
	label := func(*row, string, string) error { return nil }
	return []traceColumn{
		{names: []string{"start", "start_s", "start_ns"}, must: true, read: readStart},
		{names: []string{"client", "dst"}, must: true, read: whole(largest, number, func(r *row, n int64) { r.Client = int(n) })},
		{names: []string{"server", "src"}, must: true, read: whole(largest, number, func(r *row, n int64) { r.Server = int(n) })},
		{names: []string{"bytes"}, must: true, read: whole(traffic.MaxBytes, wantBytes, func(r *row, n int64) { r.Bytes = n })}, // a flow that stops may have sent none
		{names: []string{"service"}, read: whole(largest, number, func(r *row, n int64) { r.Service = int(n) })},
		{names: []string{"workload"}, read: whole(largest, number, func(r *row, n int64) { r.Workload = int(n) })},
		{names: []string{"query"}, read: whole(largest, number, func(r *row, n int64) { r.Query = int(n) })},
		{names: []string{"push"}, read: readPush},
		{names: []string{"stop_ns"}, read: whole(int64(maxSpan), "a time in ns up to a year; 0: none", func(r *row, n int64) { r.Stop = time.Duration(n) })},
		{names: []string{"rate_bps"}, read: whole(largest, "a whole number of bit/s from 0; 0: no limit", func(r *row, n int64) { r.Rate = units.Rate(n) })},
		{names: []string{"transport"}, read: whole(math.MaxInt32, number, func(r *row, n int64) { r.Transport = int(n) })},
		{names: []string{flowID}, read: whole(largest, number, func(r *row, n int64) { r.ID = int(n) })},
		{names: []string{"scheme"}, read: label, point: true},
		{names: []string{"load"}, read: label, point: true},
		{names: []string{"seed"}, read: label, point: true},
	}
}

// header finds out what the columns of a file hold.
func header(names []string, others bool) ([]traceColumn, error) {
	var columns []traceColumn
	left := knownColumns()
	for _, name := range names {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(left, func(c traceColumn) bool { return slices.Contains(c.names, name) })
		switch {
		case i >= 0:
			left[i].name = name
			columns, left = append(columns, left[i]), slices.Delete(left, i, i+1)
		case others:
			columns = append(columns, traceColumn{name: name})
		default:
			return nil, fmt.Errorf("%q is not a column that is still missing: want one of %s", name, namesOf(left))
		}
	}
	if missing := slices.DeleteFunc(left, func(c traceColumn) bool { return !c.must }); len(missing) > 0 {
		return nil, fmt.Errorf("the header lacks columns: want one of %s", namesOf(missing))
	}
	timeStops(columns)
	return columns, nil
}

// timeStops refuses flows that stop when the file has no column with the time. The
// records of older versions only say that a flow stops.
func timeStops(columns []traceColumn) {
	has := func(name string) int {
		return slices.IndexFunc(columns, func(c traceColumn) bool { return c.name == name })
	}
	if i := has("stops"); i >= 0 && has("stop_ns") < 0 {
		columns[i].read = func(_ *row, _, text string) error {
			if text == "true" {
				return errors.New("the flow stops at a time that the file does not have: want a column stop_ns")
			}
			return nil
		}
	}
}

func namesOf(columns []traceColumn) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.names...)
	}
	return strings.Join(names, ", ")
}

const wantBytes = "a whole number from 1 to 1099511627776" // [traffic.MaxBytes]

// whole reads a whole number from 0 to most.
func whole(most int64, want string, set func(r *row, n int64)) func(r *row, name, text string) error {
	return func(r *row, _, text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > most {
			return fmt.Errorf("%q is not %s", text, want)
		}
		set(r, n)
		return nil
	}
}

func readPush(r *row, _, text string) (err error) {
	if r.Push, err = strconv.ParseBool(text); err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	r.pushed = true
	return nil
}

// readStart reads a time in the unit that the name of the column says. A time of zero,
// which no flow has, becomes one nanosecond.
func readStart(r *row, name, text string) error {
	at, err := parseStart(name, text)
	if err == nil && (at < 0 || at > maxSpan) {
		err = fmt.Errorf("%q is outside 0 to a year", text)
	}
	r.Start = max(at, 1)
	return err
}

func parseStart(name, text string) (time.Duration, error) {
	unit := float64(time.Second)
	switch name {
	case "start":
		return units.ParseTime(text)
	case "start_ns":
		unit = 1
	}
	f, err := strconv.ParseFloat(text, 64)
	// Negated, the comparison refuses NaN as well.
	if ns := math.Round(f * unit); err == nil && ns <= float64(maxSpan) {
		return time.Duration(ns), nil
	}
	return 0, fmt.Errorf("%q is not a time in %s up to a year", text, strings.TrimPrefix(name, "start_"))
}
