package trafficgen

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"aqmlab/trafficgen/traffic"
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
	whole, err := io.ReadAll(b)
	if err != nil {
		return nil, fmt.Errorf(": %w", err)
	}
	return readParquet(bytes.NewReader(whole), int64(len(whole)))
}

// readTrace reads a CSV file, in which # starts a comment.
func readTrace(in io.Reader) ([]row, error) {
	r := csv.NewReader(in)
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
	f, err := parquet.OpenFile(in, size)
	if err != nil {
		return nil, fmt.Errorf(": cut short or damaged: %w", err)
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
