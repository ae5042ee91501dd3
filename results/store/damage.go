package store

import (
	"fmt"
	"os"

	"github.com/parquet-go/parquet-go"
)

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
