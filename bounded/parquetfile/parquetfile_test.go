package parquetfile

import (
	"bytes"
	"encoding/binary"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// file is a Parquet file with that footer and nothing else.
func file(footer []byte) []byte {
	b := append([]byte(magic), footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, magic...)
}

func open(b []byte) (*parquet.File, error) { return Open(bytes.NewReader(b), int64(len(b))) }

type row struct {
	Name string             `parquet:"name,dict"`
	Many []int64            `parquet:"many"`
	At   map[string]float64 `parquet:"at"`
	On   *bool              `parquet:"on,optional"`
}

func TestOpen(t *testing.T) {
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.KeyValueMetadata("a", "b"), parquet.BloomFilters(parquet.SplitBlockFilter(10, "name")))
	rows := make([]row, 300)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := open(b.Bytes())
	if err != nil || f.NumRows() != 300 {
		t.Fatalf("%v, %v", f, err)
	}
	for n := range b.Len() { // whatever is cut off
		if f, err := open(b.Bytes()[:n]); err == nil {
			t.Errorf("%d of %d bytes: %d rows", n, b.Len(), f.NumRows())
		}
	}
}

// TestLies: a length that the file has no room for is refused before anything is made of
// that length. Lists have 3 and 4 in these footers: a field's head is its type, and the
// difference of its number to that of the last field times 16 (Thrift, compact protocol).
func TestLies(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<31-1)
	deep := bytes.Repeat([]byte{0x1c}, 40)
	for want, b := range map[string][]byte{
		"no Parquet file":                   []byte("PAR1"),
		"does not end with PAR1":            []byte("PAR1\x00\x00\x00\x00PARE"),
		"footer has 827474256 bytes, of 12": []byte("PAR1PAR1PAR1"),
		"a list of 2147483647 is in 1":      file(append(append([]byte{0x19, 0xfc}, huge...), 0)),
		"footer: it is cut short":           file(append([]byte{0x18}, huge...)),
		"a list of 2147483647 is in 2":      file(append(append([]byte{0x1b}, huge...), 0x88, 0, 0)),
		"type 14 is unknown":                file([]byte{0x1e, 0}),
		"in each other":                     file(deep),
		"cut short":                         file([]byte{0x05, 0x02, 0x02, 0x17, 1, 2, 3}),
	} {
		if _, err := open(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, want %s", b, err, want)
		}
	}
}

// TestCodecs: files of all codecs but LZ4 are read.
func TestCodecs(t *testing.T) {
	for name, codec := range map[string]compress.Codec{
		"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "brotli": &parquet.Brotli, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw,
	} {
		var b bytes.Buffer
		if err := parquet.Write(&b, make([]row, 3), parquet.Compression(codec)); err != nil {
			t.Fatal(err)
		}
		_, err := open(b.Bytes())
		if refused := err != nil && strings.Contains(err.Error(), "compressed with LZ4: want ZSTD"); refused != (name == "lz4") || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSkip: a value of every type ends where the protocol says.
func TestSkip(t *testing.T) {
	for _, tt := range []struct {
		kind byte
		b    string
	}{
		{typeTrue, ""}, {typeFalse, ""}, {typeByte, "\xff"}, {typeInt16, "\x80\x01"}, {5, "\x01"}, {typeInt64, "\xff\xff\xff\xff\x01"},
		{typeDouble, "12345678"}, {typeBinary, "\x03abc"}, {typeBinary, "\x00"},
		{typeList, "\x35\x01\x02\x03"}, {typeList, "\x21\x01\x02"}, {typeSet, "\xf5\x01\x02"}, {typeList, "\x00"},
		{typeMap, "\x00"}, {typeMap, "\x01\x85\x01a\x07"},
		{typeStruct, "\x00"}, {typeStruct, "\x15\x02\x11\x05\x06\x08\x18\x01a\x00"},
	} {
		rest, err := skip(tt.kind, []byte(tt.b+"rest"), 0)
		if err != nil || string(rest) != "rest" {
			t.Errorf("type %d, %q: left %q, %v", tt.kind, tt.b, rest, err)
		}
	}
}

// allocated is how many bytes this process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// FuzzOpen: whatever a file is, it opens or does not, at a cost that its size bounds.
func FuzzOpen(f *testing.F) {
	var b bytes.Buffer
	if err := parquet.Write(&b, make([]row, 3)); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte("PAR1PAR1PAR1"))
	f.Add(file([]byte{0x19, 0x0c, 0x19, 0x1c, 0, 0}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got *parquet.File
		before := allocated()
		func() {
			defer func() { _ = recover() }() // the library's own
			got, _ = open(b)
		}()
		if cost, most := allocated()-before, uint64(1<<20+4096*len(b)); cost > most {
			t.Errorf("opening %d bytes took %d of memory", len(b), cost)
		}
		if got != nil && got.NumRows()/maxRowsPerByte > int64(len(b)) {
			t.Errorf("%d rows in %d bytes", got.NumRows(), len(b))
		}
	})
}
