package store

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// readColumns reads all rows of a file into structs by their parquet tags, column
// after column, which takes a fifth of the time of row after row. Fields of which
// the file has no column stay zero.
func readColumns[T any](p *parquet.File) ([]T, error) {
	rows := make([]T, p.NumRows())
	into := reflect.ValueOf(rows)
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("parquet"), ",")
		leaf, ok := p.Schema().Lookup(name)
		if !ok {
			continue
		}
		at := 0
		for _, group := range p.RowGroups() {
			n, err := readChunk(group.ColumnChunks()[leaf.ColumnIndex], into.Slice(at, into.Len()), field.Index)
			if at += n; err != nil {
				return nil, fmt.Errorf("column %s: %w", name, err)
			}
		}
		if at != len(rows) {
			return nil, fmt.Errorf("column %s: %d values in %d rows", name, at, len(rows))
		}
	}
	return rows, nil
}

// readChunk reads a column of one group into a field of rows, and returns how
// many there were.
func readChunk(chunk parquet.ColumnChunk, rows reflect.Value, field []int) (n int, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		m, err := readPage(page, rows.Slice(n, rows.Len()), field)
		parquet.Release(page)
		if n += m; err != nil {
			return n, err
		}
	}
}

func readPage(page parquet.Page, rows reflect.Value, field []int) (n int, err error) {
	values, batch := page.Values(), make([]parquet.Value, 256)
	var last string
	for {
		m, err := values.ReadValues(batch)
		if m > rows.Len()-n {
			return n, errors.New("more values than rows")
		}
		for _, v := range batch[:m] {
			if err := put(rows.Index(n).FieldByIndex(field), v, &last); err != nil {
				return n, err
			}
			n++
		}
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
}

// put sets a field. Last is the text before, which often comes again.
func put(field reflect.Value, v parquet.Value, last *string) error {
	if v.IsNull() {
		return nil
	}
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	switch kind := v.Kind(); {
	case field.Kind() == reflect.Int64 && kind == parquet.Int64:
		field.SetInt(v.Int64())
	case field.Kind() == reflect.Uint64 && kind == parquet.Int64:
		field.SetUint(v.Uint64())
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
