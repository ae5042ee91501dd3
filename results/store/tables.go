package store

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"aqmlab/results"
)

// table is one kind of record of a point, kept in a file of its own. Rows repeat
// the point's coordinate, so that a query over many folders ("*/flows.parquet")
// needs no path parsing; a dictionary makes that almost free.
//
// A row embeds the coordinate first. Its other fields are columns by their parquet
// tags, and hold what the record's fields of the same names do.
type table[Row, Record any] struct {
	file   string
	sparse bool               // points without any such record have no file
	row    func(*Row, Record) // finishes a row, unless it is nil
	record func(*Record)      // finishes a record, unless it is nil
}

// column is a column of a table that a field of its records fills.
type column struct {
	name        string
	row, record []int         // which field it is
	null        reflect.Value // what the record has where the column is null
}

// columns lists them. A column that may be null is a pointer in the row: of plain
// values with the option "optional" the library writes some zeros as null and
// others not. Null stands for zero, or with the tag null:"unknown" for [results.Unknown].
func (t table[Row, Record]) columns() (all []column) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		tag, stored := field.Tag.Lookup("parquet")
		of, kept := reflect.TypeFor[Record]().FieldByName(field.Name)
		if !stored || !kept {
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		null := reflect.Zero(of.Type)
		if field.Tag.Get("null") == "unknown" {
			null = reflect.ValueOf(results.Unknown).Convert(of.Type)
		}
		all = append(all, column{name, field.Index, of.Index, null})
	}
	return all
}

func (t table[Row, Record]) rows(at results.Coord, records []Record) []Row {
	rows := make([]Row, len(records))
	columns := t.columns()
	for i := range records {
		into, from := reflect.ValueOf(&rows[i]).Elem(), reflect.ValueOf(&records[i]).Elem()
		into.Field(0).Set(reflect.ValueOf(at))
		for _, c := range columns {
			field, v := into.FieldByIndex(c.row), from.FieldByIndex(c.record)
			switch {
			case field.Kind() != reflect.Pointer:
				field.Set(v)
			case !v.Equal(c.null):
				field.Set(v.Addr())
			}
		}
		if t.row != nil {
			t.row(&rows[i], records[i])
		}
	}
	return rows
}

func (t table[Row, Record]) write(dir string, at results.Coord, records []Record) error {
	if t.sparse && len(records) == 0 {
		return nil
	}
	return writeParquet(filepath.Join(dir, t.file), t.rows(at, records))
}

// read wants as many records as the point says that it has.
func (t table[Row, Record]) read(dir string, want int) (records []Record, err error) {
	if t.sparse && want == 0 {
		return nil, nil
	}
	path := filepath.Join(dir, t.file)
	err = withParquet(path, func(p *parquet.File) error {
		if err := countRows(path, p, want); err != nil {
			return err
		}
		records, err = t.readColumns(p)
		if err != nil {
			return damaged(path, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return records, nil
}

// readColumns reads all records of a file, column after column, which takes a fifth
// of the time of row after row. What the file has no column of is null.
func (t table[Row, Record]) readColumns(p *parquet.File) ([]Record, error) {
	records := make([]Record, p.NumRows())
	into := reflect.ValueOf(records)
	for _, c := range t.columns() {
		if !c.null.IsZero() {
			for i := range records {
				into.Index(i).FieldByIndex(c.record).Set(c.null)
			}
		}
		leaf, ok := p.Schema().Lookup(c.name)
		if !ok {
			continue
		}
		if err := readColumn(p, leaf.ColumnIndex, into, c.record); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	for i := range records {
		if t.record != nil {
			t.record(&records[i])
		}
	}
	return records, nil
}

type queueRow struct {
	results.Coord
	results.QueueSample
}

func queueTable() table[queueRow, results.QueueSample] {
	return table[queueRow, results.QueueSample]{file: seriesFile}
}

type goodputRow struct {
	results.Coord
	results.ServiceSample
}

func serviceTable() table[goodputRow, results.ServiceSample] {
	return table[goodputRow, results.ServiceSample]{file: goodputFile, sparse: true}
}

type estimateRow struct {
	results.Coord
	results.EstimateSample
}

func estimateTable() table[estimateRow, results.EstimateSample] {
	return table[estimateRow, results.EstimateSample]{file: estimatesFile, sparse: true}
}

type probeRow struct {
	results.Coord
	Probe string         `parquet:"probe,dict,zstd"`
	At    time.Duration  `parquet:"at_ns,delta,zstd"`
	RTT   *time.Duration `parquet:"rtt_ns,optional,zstd"` // null when it was lost
}

func probeTable() table[probeRow, results.ProbeSample] {
	return table[probeRow, results.ProbeSample]{
		file: probesFile, sparse: true,
		record: func(s *results.ProbeSample) { s.Lost = s.RTT == 0 },
	}
}

type senderRow struct {
	results.Coord
	At       time.Duration  `parquet:"at_ns,delta,zstd"`
	Flow     int64          `parquet:"flow_id,delta,zstd"`
	Cwnd     *int64         `parquet:"cwnd_bytes,optional,zstd"`           // null of a sender with a rate
	SSThresh *int64         `parquet:"ssthresh_bytes,optional,zstd"`       // null before it has one
	SRTT     *time.Duration `parquet:"srtt_ns,optional,zstd"`              // null before the first measurement
	Alpha    *float64       `parquet:"alpha,optional,zstd" null:"unknown"` // null where there is none
	Rate     *int64         `parquet:"rate_bps,optional,zstd"`             // null of a sender with a window
}

func senderTable() table[senderRow, results.SenderSample] {
	return table[senderRow, results.SenderSample]{file: sendersFile, sparse: true}
}

type flowRow struct {
	results.Coord
	ID        int64          `parquet:"flow_id,delta,zstd"`
	Start     time.Duration  `parquet:"start_ns,delta,zstd"`
	Sent      time.Duration  `parquet:"sent_ns,delta,zstd"`
	FCT       *time.Duration `parquet:"fct_ns,optional,zstd"` // null when the flow did not complete
	Bytes     int64          `parquet:"bytes,zstd"`
	Received  int64          `parquet:"received_bytes,zstd"`
	Client    int32          `parquet:"client,zstd"`
	Server    int32          `parquet:"server,zstd"`
	Service   int32          `parquet:"service,zstd"`
	Workload  int32          `parquet:"workload,zstd"`
	Query     int64          `parquet:"query,delta,zstd"` // 0: none
	Stops     bool           `parquet:"stops,zstd"`
	Stop      time.Duration  `parquet:"stop_ns,delta,zstd"` // 0: none, or not known
	Rate      int64          `parquet:"rate_bps,zstd"`      // 0: no limit
	Push      bool           `parquet:"push,zstd"`
	Completed bool           `parquet:"completed,zstd"`
	Error     string         `parquet:"error,dict,zstd"`

	Retransmits *int64 `parquet:"retransmits,optional,zstd" null:"unknown"` // null when nobody counted
	Timeouts    *int64 `parquet:"timeouts,optional,zstd" null:"unknown"`    // the same
}

func flowTable() table[flowRow, results.Flow] {
	return table[flowRow, results.Flow]{file: flowsFile, row: func(r *flowRow, f results.Flow) {
		r.Completed, r.FCT = f.Completed(), nil
		if r.Completed {
			r.FCT = &f.FCT
		}
	}}
}
