package store

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
)

// writeParquet writes rows to a new file and makes it durable.
func writeParquet[T any](path string, rows []T) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Base(path), err)
	}
	err = parquet.Write(f, rows)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// readParquet reads all rows of a file and checks that there are as many as
// the point's own record says.
func readParquet[T any](path string, want int) (rows []T, err error) {
	// The library panics on some damaged files.
	defer func() {
		if p := recover(); p != nil {
			rows, err = nil, damaged(path, fmt.Errorf("%v", p))
		}
	}()
	f, p, err := openParquet(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if rows, err = readColumns[T](p); err != nil {
		return nil, damaged(path, err)
	}
	if len(rows) != want {
		return nil, damaged(path, fmt.Errorf("%d rows, but the point recorded %d", len(rows), want))
	}
	return rows, nil
}

func damaged(path string, err error) error {
	return fmt.Errorf("reading %s: missing, cut short or damaged: %w", path, err)
}

// openParquet opens a file by its footer. The caller closes the file.
func openParquet(path string) (f *os.File, p *parquet.File, err error) {
	// The library panics on some damaged files.
	defer func() {
		if r := recover(); r != nil {
			err = damaged(path, fmt.Errorf("%v", r))
		}
		if err != nil && f != nil {
			f.Close()
		}
	}()
	if f, err = os.Open(path); err != nil {
		return nil, nil, damaged(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		return f, nil, damaged(path, err)
	}
	p, err = parquet.OpenFile(f, info.Size(), parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return f, nil, damaged(path, err)
	}
	return f, p, nil
}

// checkRows compares the number of rows that a file says it has with the one
// that the point recorded.
func checkRows(path string, want int) error {
	f, p, err := openParquet(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if p.NumRows() != int64(want) {
		return damaged(path, fmt.Errorf("%d rows, but the point recorded %d", p.NumRows(), want))
	}
	return nil
}
