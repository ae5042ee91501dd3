package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Tables lists the tables that a point has, such as flows and series.
func (s Point) Tables() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("listing tables: %w", err)
	}
	var tables []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), tableExt); ok {
			tables = append(tables, name)
		}
	}
	return tables, nil
}

// tableFile is where a table is. There need not be one: not every point has a
// probe, for example.
func (s Point) tableFile(table string) (name string, there bool) {
	name = table + tableExt
	_, err := os.Lstat(s.path(name))
	return name, s.sums[name] != "" || !errors.Is(err, fs.ErrNotExist)
}

// withTable opens a table that has its columns.
func (s Point) withTable(name string, read func(*parquet.File) error) error {
	return withParquet(s.folder, name, func(p *parquet.File) error {
		if err := schemas()[name].check(p); err != nil {
			return damaged(s.path(name), err)
		}
		return read(p)
	})
}

// Columns lists the columns of a table, which are all flat. A table that the point
// does not have has none.
func (s Point) Columns(table string) (names []string, err error) {
	name, there := s.tableFile(table)
	if !there {
		return nil, nil
	}
	err = s.withTable(name, func(p *parquet.File) error {
		for _, column := range p.Schema().Columns() {
			names = append(names, column[0])
		}
		return nil
	})
	return names, err
}

// EachRow calls do with the values of every row of a table in the order of names,
// nil for a column that the table does not have. A value is a bool, an int64, a
// uint64, a float64 or a string. The slice is reused.
func (s Point) EachRow(table string, names []string, do func(values []any) error) error {
	name, there := s.tableFile(table)
	if !there {
		return nil
	}
	return s.withTable(name, func(p *parquet.File) error {
		place := placesOf(p.Schema(), names, schemas()[name])
		for _, group := range p.RowGroups() {
			if err := eachOf(group, place, make([]any, len(names)), do); err != nil {
				return fmt.Errorf("reading %s: %w", s.path(name), err)
			}
		}
		return nil
	})
}

// slot is where the values of a column go.
type slot struct {
	at       int // among the names; -1: nowhere
	unsigned bool
	name     string
	full     bool // it has no nulls
}

// placesOf says where the values of each column of a file go.
func placesOf(schema *parquet.Schema, names []string, want schemaOf) []slot {
	columns := schema.Columns()
	places := make([]slot, len(columns))
	for i, column := range columns {
		leaf, _ := schema.Lookup(column...)
		known, ours := want[column[0]]
		places[i] = slot{slices.Index(names, column[0]), leaf.Node.GoType().Kind() == reflect.Uint64, column[0], ours && !known.nullable}
	}
	return places
}

func eachOf(group parquet.RowGroup, places []slot, values []any, do func([]any) error) error {
	rows := group.Rows()
	defer rows.Close()
	batch := make([]parquet.Row, 256)
	for {
		n, err := rows.ReadRows(batch)
		for _, row := range batch[:n] {
			clear(values)
			for _, v := range row {
				p := places[v.Column()]
				if p.full && v.IsNull() {
					return fmt.Errorf("column %s: a row is null", p.name)
				}
				if p.at >= 0 {
					values[p.at] = plain(v, p.unsigned)
				}
			}
			if err := do(values); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// plain is a value as a sink takes it.
func plain(v parquet.Value, unsigned bool) any {
	if v.IsNull() {
		return nil
	}
	switch v.Kind() {
	case parquet.Boolean:
		return v.Boolean()
	case parquet.Int32:
		return int64(v.Int32())
	case parquet.Int64:
		if unsigned {
			return v.Uint64()
		}
		return v.Int64()
	case parquet.Float:
		return float64(v.Float())
	case parquet.Double:
		return v.Double()
	}
	return string(v.ByteArray())
}
