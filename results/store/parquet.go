package store

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"

	"github.com/parquet-go/parquet-go"

	"aqmlab/bounded/parquetfile"
	"aqmlab/results"
)

// withParquet opens a file of a point by its footer for as long as read runs.
func withParquet(of folder, name string, read func(*parquet.File) error) (err error) {
	path := of.path(name)
	// The library panics on some damaged files.
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, fmt.Errorf("%v", r))
		}
	}()
	f, err := of.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return damaged(path, err)
	}
	p, err := parquetfile.Open(f, info.Size())
	if err != nil {
		return damaged(path, err)
	}
	if err := results.CheckTable(p.Lookup); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return read(p)
}

// checkRows compares the number of rows that a file says it has with the one
// that the point recorded. It reads no more than the end of the file.
func checkRows(dir, name string, want int) error {
	return withParquet(folder{dir: dir}, name, func(p *parquet.File) error { return countRows(filepath.Join(dir, name), p, want) })
}

func countRows(path string, p *parquet.File, want int) error {
	if p.NumRows() != int64(want) {
		return damaged(path, fmt.Errorf("%d rows, but the point recorded %d", p.NumRows(), want))
	}
	return nil
}

// readColumn reads a column of all groups into a field of records. Where it is
// null the field stays as it is. The first column makes the records: what a file says of
// its rows costs no memory before they are there.
func readColumn(p *parquet.File, at int, records reflect.Value, c column) error {
	batch, n, first := make([]parquet.Value, 256), 0, records.Len() == 0
	var last string
	for _, group := range p.RowGroups() {
		values := parquet.NewColumnChunkValueReader(group.ColumnChunks()[at])
		defer values.Close()
		for {
			m, err := values.ReadValues(batch)
			if int64(n+m) > p.NumRows() {
				return errors.New("more values than rows")
			}
			if first {
				if records.Cap() < n+m {
					records.Grow(max(n, m))
				}
				records.SetLen(n + m)
			}
			for i := range batch[:m] {
				v := &batch[i]
				if v.IsNull() && !c.nullable {
					return fmt.Errorf("row %d is null", n+i+1)
				}
				if err := put(records.Index(n+i).FieldByIndex(c.record), v, &last); err != nil {
					return err
				}
			}
			n += m
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
		}
	}
	if int64(n) != p.NumRows() {
		return fmt.Errorf("%d values in %d rows", n, p.NumRows())
	}
	return nil
}

// put sets a field. Last is the text before, which often comes again.
func put(field reflect.Value, v *parquet.Value, last *string) error {
	if v.IsNull() {
		return nil
	}
	switch kind := v.Kind(); {
	case field.Kind() == reflect.Int64 && kind == parquet.Int64:
		field.SetInt(v.Int64())
	case field.Kind() == reflect.Int32 && kind == parquet.Int32:
		field.SetInt(int64(v.Int32()))
	case field.Kind() == reflect.Float64 && kind == parquet.Double:
		field.SetFloat(v.Double())
	case field.Kind() == reflect.Bool && kind == parquet.Boolean:
		field.SetBool(v.Boolean())
	case field.Kind() == reflect.String && kind == parquet.ByteArray:
		if text := v.ByteArray(); string(text) != *last {
			*last = string(text)
		}
		field.SetString(*last)
	default:
		return fmt.Errorf("it holds %v, want %v", kind, field.Kind())
	}
	return nil
}
