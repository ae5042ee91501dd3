// Package parquetfile opens Parquet files that others may have written. What such a file
// says of itself costs memory in proportion to its size.
package parquetfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// maxRowsPerByte is more than any table has: even rows that only repeat the one before
// take some bits in each of their columns.
const maxRowsPerByte = 256

// A file ends with its footer, the length of that, and magic. It begins with magic, too.
const (
	magic   = "PAR1"
	trailer = 4 + len(magic)
)

// Open opens a file of that size by its footer. The library that reads it may panic on a
// damaged one, here and later.
func Open(in io.ReaderAt, size int64) (*parquet.File, error) {
	if err := checkFooter(in, size); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(in, size, parquet.SkipBloomFilters(true), parquet.SkipPageIndex(true))
	if err != nil {
		return nil, err
	}
	if rows := f.NumRows(); rows < 0 || rows/maxRowsPerByte > size {
		return nil, fmt.Errorf("it says that it has %d rows in %d bytes", rows, size)
	}
	if err := checkCodecs(f); err != nil {
		return nil, err
	}
	return f, nil
}

// checkCodecs refuses LZ4, whose blocks do not say how long they are: the library makes
// room for twice as much again and again, for damaged ones until there is no memory left.
func checkCodecs(f *parquet.File) error {
	for _, group := range f.Metadata().RowGroups {
		for _, column := range group.Columns {
			if column.MetaData.Codec == format.Lz4Raw {
				return fmt.Errorf("column %s is compressed with LZ4: want ZSTD, SNAPPY, GZIP, BROTLI or none", strings.Join(column.MetaData.PathInSchema, "."))
			}
		}
	}
	return nil
}

// checkFooter checks what the library believes: the length of the footer, and those of the
// lists in it.
func checkFooter(in io.ReaderAt, size int64) error {
	least := int64(len(magic) + trailer)
	if size < least {
		return fmt.Errorf("%d bytes are no Parquet file", size)
	}
	end := make([]byte, trailer)
	if _, err := in.ReadAt(end, size-int64(trailer)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(end[4:]) != magic {
		return fmt.Errorf("it does not end with %s", magic)
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if length > size-least {
		return fmt.Errorf("it says that its footer has %d bytes, of %d in all", length, size)
	}
	footer := make([]byte, length)
	if _, err := in.ReadAt(footer, size-int64(trailer)-length); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := skip(typeStruct, footer, 0); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	return nil
}
