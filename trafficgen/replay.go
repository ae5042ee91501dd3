package trafficgen

import (
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"aqmlab/kind"
	"aqmlab/units"
)

//go:embed traces/*.csv
var shipped embed.FS

// replay is a trace of given flows.
type replay struct {
	File string `lab:"file" doc:"CSV with a header: start (12.5us), start_s or start_ns; client or dst; server or src; bytes; and service, if any. Hosts and services count from 0; # starts a comment"`
	Name string `lab:"name" doc:"in place of a file, a trace that ships with aqmlab: leafspine-144"`

	rows []row
}

// row is a flow, and the line that it stands on.
type row struct {
	Flow
	line int
}

var _ Arrival = replay{}

func newReplay(p replay, env ArrivalEnv) (Arrival, error) {
	param := "file"
	if p.Name != "" {
		param = "name"
	}
	if (p.File == "") == (p.Name == "") {
		return nil, kind.Invalid(param, "want either a file or the name of a trace")
	}
	f, err := p.open(env)
	if err != nil {
		return nil, kind.Invalid(param, "%w", err)
	}
	defer f.Close()
	if p.rows, err = readTrace(f); err != nil {
		return nil, kind.Invalid(param, "%s%w", p.Name+p.File, err)
	}
	return p, nil
}

func (p replay) open(env ArrivalEnv) (io.ReadCloser, error) {
	switch {
	case p.Name != "":
		f, err := shipped.Open("traces/" + p.Name + ".csv")
		if err != nil {
			return nil, kind.Unknown("trace", p.Name, Traces())
		}
		return f, nil
	case filepath.IsAbs(p.File):
		return os.Open(p.File)
	}
	return os.Open(filepath.Join(env.Dir, p.File))
}

// Traces lists the names of the traces that ship with aqmlab.
func Traces() []string {
	entries, err := shipped.ReadDir("traces")
	if err != nil {
		panic(fmt.Sprintf("a folder that is compiled in cannot be read: %v", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".csv"))
	}
	return names
}

func (replay) ByLoad() bool { return false }

func (p replay) check(w *workload) error {
	for _, r := range p.rows {
		switch {
		case r.Client >= w.Hosts || r.Server >= w.Hosts:
			return fmt.Errorf("arrival: trace: line %d: hosts %d and %d: want 0 to %d", r.line, r.Client, r.Server, w.Hosts-1)
		case r.Service >= len(w.services):
			return fmt.Errorf("arrival: trace: line %d: service %d is outside 0 to %d", r.line, r.Service, len(w.services)-1)
		}
	}
	return nil
}

func (p replay) flows(w *workload) []Flow {
	flows := make([]Flow, len(p.rows))
	for i, r := range p.rows {
		flows[i] = r.Flow
		flows[i].Push = w.Push
	}
	return flows
}

// readTrace reads a CSV file. Errors begin with a colon and the line.
func readTrace(in io.Reader) ([]row, error) {
	r := csv.NewReader(in)
	r.Comment, r.TrimLeadingSpace, r.ReuseRecord = '#', true, true
	var columns []csvColumn
	var rows []row
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) && len(rows) > 0 {
			return rows, nil
		} else if errors.Is(err, io.EOF) {
			return nil, errors.New(": there are no flows")
		} else if err != nil {
			return nil, fmt.Errorf(": %w", err)
		}
		line, _ := r.FieldPos(0)
		if columns == nil {
			columns, err = header(record)
		} else {
			made := row{line: line}
			err = made.read(columns, record)
			rows = append(rows, made)
		}
		if err != nil {
			return nil, fmt.Errorf(":%d: %w", line, err)
		}
	}
}

// csvColumn is what a column of a trace holds, and how it is read.
type csvColumn struct {
	names []string
	read  func(f *Flow, text string) error
}

// columnsOf lists the columns; all but the last must be there. Of the names of
// one, a file has the one that fits it.
func columnsOf() []csvColumn {
	return []csvColumn{
		{[]string{"start", "start_s", "start_ns"}, nil},
		{[]string{"client", "dst"}, func(f *Flow, text string) error { return natural(&f.Client, text) }},
		{[]string{"server", "src"}, func(f *Flow, text string) error { return natural(&f.Server, text) }},
		{[]string{"bytes"}, readBytes},
		{[]string{"service"}, func(f *Flow, text string) error { return natural(&f.Service, text) }},
	}
}

// header finds out what the columns of a file hold.
func header(names []string) ([]csvColumn, error) {
	var columns []csvColumn
	known := columnsOf()
	for _, name := range names {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(known, func(c csvColumn) bool { return slices.Contains(c.names, name) })
		if i < 0 {
			return nil, fmt.Errorf("%q is not a column that is still missing: want one of %s", name, namesOf(known))
		}
		c := csvColumn{names: []string{name}, read: known[i].read}
		if c.read == nil {
			c.read = startIn(name)
		}
		columns, known = append(columns, c), slices.Delete(known, i, i+1)
	}
	if missing := slices.DeleteFunc(known, func(c csvColumn) bool { return c.names[0] == "service" }); len(missing) > 0 {
		return nil, fmt.Errorf("the header lacks columns: want one of %s", namesOf(missing))
	}
	return columns, nil
}

func namesOf(columns []csvColumn) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.names...)
	}
	return strings.Join(names, ", ")
}

// read takes a line apart.
func (r *row) read(columns []csvColumn, record []string) error {
	for i, text := range record {
		if err := columns[i].read(&r.Flow, strings.TrimSpace(text)); err != nil {
			return fmt.Errorf("%s: %w", columns[i].names[0], err)
		}
	}
	if r.Client == r.Server {
		return fmt.Errorf("host %d is both client and server", r.Client)
	}
	return nil
}

func natural(dst *int, text string) (err error) {
	if *dst, err = strconv.Atoi(text); err != nil || *dst < 0 {
		return fmt.Errorf("%q is not a whole number from 0", text)
	}
	return nil
}

func readBytes(f *Flow, text string) (err error) {
	if f.Bytes, err = strconv.ParseInt(text, 10, 64); err != nil || f.Bytes < 1 || f.Bytes > MaxBytes {
		return fmt.Errorf("%q is not a whole number from 1 to %d", text, int64(MaxBytes))
	}
	return nil
}

// startIn makes the reader of the column of that name. A time of zero, which
// no flow has, becomes one nanosecond.
func startIn(name string) func(*Flow, string) error {
	parse := units.ParseTime
	if name != "start" {
		unit := float64(time.Second)
		if name == "start_ns" {
			unit = 1
		}
		parse = func(text string) (time.Duration, error) {
			f, err := strconv.ParseFloat(text, 64)
			// Negated, the comparison refuses NaN as well.
			if ns := math.Round(f * unit); err == nil && ns <= float64(maxSpan) {
				return time.Duration(ns), nil
			}
			return 0, fmt.Errorf("%q is not a time in %s up to a year", text, strings.TrimPrefix(name, "start_"))
		}
	}
	return func(f *Flow, text string) error {
		at, err := parse(text)
		if err == nil && (at < 0 || at > maxSpan) {
			err = fmt.Errorf("%q is outside 0 to a year", text)
		}
		f.Start = max(at, 1)
		return err
	}
}
