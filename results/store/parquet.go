package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// writeParquet writes rows to a new file.
func writeParquet[T any](path string, rows []T) error {
	return writeNew(path, func(w io.Writer) error { return parquet.Write(w, rows) })
}

// withParquet opens a file by its footer for as long as read runs.
func withParquet(path string, read func(*parquet.File) error) (err error) {
	// The library panics on some damaged files.
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, fmt.Errorf("%v", r))
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return damaged(path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return damaged(path, err)
	}
	p, err := parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return damaged(path, err)
	}
	return read(p)
}

func damaged(path string, err error) error {
	return fmt.Errorf("reading %s: missing, cut short or damaged: %w", path, err)
}

// checkRows compares the number of rows that a file says it has with the one
// that the point recorded.
func checkRows(path string, want int) error {
	return withParquet(path, func(p *parquet.File) error { return countRows(path, p, want) })
}

func countRows(path string, p *parquet.File, want int) error {
	if p.NumRows() != int64(want) {
		return damaged(path, fmt.Errorf("%d rows, but the point recorded %d", p.NumRows(), want))
	}
	return nil
}

// readColumn reads a column of all groups into a field of records. Where it is
// null the field stays as it is.
func readColumn(p *parquet.File, at int, records reflect.Value, field []int) error {
	batch, n := make([]parquet.Value, 256), 0
	var last string
	for _, group := range p.RowGroups() {
		values := parquet.NewColumnChunkValueReader(group.ColumnChunks()[at])
		defer values.Close()
		for {
			m, err := values.ReadValues(batch)
			if m > records.Len()-n {
				return errors.New("more values than rows")
			}
			for i, v := range batch[:m] {
				if err := put(records.Index(n+i).FieldByIndex(field), v, &last); err != nil {
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
	if n != records.Len() {
		return fmt.Errorf("%d values in %d rows", n, records.Len())
	}
	return nil
}

// put sets a field. Last is the text before, which often comes again.
func put(field reflect.Value, v parquet.Value, last *string) error {
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
