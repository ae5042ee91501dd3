package trafficgen

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// traceColumn is what a column of a trace holds.
type traceColumn struct {
	name  string
	read  func(r *row, text string) error // nil for a column that is ignored
	point bool                            // it has one value in all rows
}

// flowID is the column that the records of a run have, and no other trace.
const flowID = "flow_id"

// known is a column that a trace may have, under one of several names.
type known struct {
	names []string
	make  func(name string) traceColumn
	must  bool
}

// knownColumns lists the columns. A file has each under one of its names.
func knownColumns() []known {
	reading := func(read func(r *row, text string) error) func(string) traceColumn {
		return func(name string) traceColumn { return traceColumn{name: name, read: read} }
	}
	point := func(name string) traceColumn {
		return traceColumn{name: name, read: func(*row, string) error { return nil }, point: true}
	}
	return []known{
		{[]string{"start", "start_s", "start_ns"}, func(name string) traceColumn { return traceColumn{name: name, read: startIn(name)} }, true},
		{[]string{"client", "dst"}, reading(func(r *row, text string) error { return natural(&r.Client, text) }), true},
		{[]string{"server", "src"}, reading(func(r *row, text string) error { return natural(&r.Server, text) }), true},
		{[]string{"bytes"}, reading(readBytes), true},
		{[]string{"service"}, reading(func(r *row, text string) error { return natural(&r.Service, text) }), false},
		{[]string{"workload"}, reading(func(r *row, text string) error { return natural(&r.Workload, text) }), false},
		{[]string{"query"}, reading(func(r *row, text string) error { return natural(&r.Query, text) }), false},
		{[]string{"push"}, reading(readPush), false},
		{[]string{"stop_ns"}, reading(readStop), false},
		{[]string{"rate_bps"}, reading(readRate), false},
		{[]string{flowID}, reading(func(r *row, text string) error { return natural(&r.ID, text) }), false},
		{[]string{"scheme"}, point, false},
		{[]string{"load"}, point, false},
		{[]string{"seed"}, point, false},
	}
}

// header finds out what the columns of a file hold.
func header(names []string, others bool) ([]traceColumn, error) {
	var columns []traceColumn
	left := knownColumns()
	for _, name := range names {
		name = strings.TrimSpace(name)
		i := slices.IndexFunc(left, func(c known) bool { return slices.Contains(c.names, name) })
		switch {
		case i >= 0:
			columns, left = append(columns, left[i].make(name)), slices.Delete(left, i, i+1)
		case others:
			columns = append(columns, traceColumn{name: name})
		default:
			return nil, fmt.Errorf("%q is not a column that is still missing: want one of %s", name, namesOf(left))
		}
	}
	if missing := slices.DeleteFunc(left, func(c known) bool { return !c.must }); len(missing) > 0 {
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
		columns[i].read = func(_ *row, text string) error {
			if text == "true" {
				return errors.New("the flow stops at a time that the file does not have: want a column stop_ns")
			}
			return nil
		}
	}
}

func namesOf(columns []known) string {
	var names []string
	for _, c := range columns {
		names = append(names, c.names...)
	}
	return strings.Join(names, ", ")
}

func natural(dst *int, text string) (err error) {
	if *dst, err = strconv.Atoi(text); err != nil || *dst < 0 {
		return fmt.Errorf("%q is not a whole number from 0", text)
	}
	return nil
}

// readBytes takes zero, too, which a flow that stops may have sent.
func readBytes(r *row, text string) (err error) {
	if r.Bytes, err = strconv.ParseInt(text, 10, 64); err != nil || r.Bytes < 0 || r.Bytes > traffic.MaxBytes {
		return wrongBytes(text)
	}
	return nil
}

func wrongBytes(text string) error {
	return fmt.Errorf("%q is not a whole number from 1 to %d", text, int64(traffic.MaxBytes))
}

func readPush(r *row, text string) (err error) {
	if r.Push, err = strconv.ParseBool(text); err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	r.pushed = true
	return nil
}

func readStop(r *row, text string) error {
	ns, err := strconv.ParseInt(text, 10, 64)
	if err != nil || ns < 0 || ns > int64(maxSpan) {
		return fmt.Errorf("%q is not a time in ns up to a year; 0: none", text)
	}
	r.Stop = time.Duration(ns)
	return nil
}

func readRate(r *row, text string) error {
	bps, err := strconv.ParseInt(text, 10, 64)
	if err != nil || bps < 0 {
		return fmt.Errorf("%q is not a whole number of bit/s from 0; 0: no limit", text)
	}
	r.Rate = units.Rate(bps)
	return nil
}

// startIn makes the reader of the column of that name. A time of zero, which
// no flow has, becomes one nanosecond.
func startIn(name string) func(*row, string) error {
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
	return func(r *row, text string) error {
		at, err := parse(text)
		if err == nil && (at < 0 || at > maxSpan) {
			err = fmt.Errorf("%q is outside 0 to a year", text)
		}
		r.Start = max(at, 1)
		return err
	}
}
