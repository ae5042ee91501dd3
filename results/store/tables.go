package store

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
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
	sparse bool                // points without any such record have no file
	row    func(*Row, Record)  // finishes a row, unless it is nil
	record func(*Record) error // finishes a record that was read, unless it is nil
}

// column is a column of a table.
type column struct {
	name        string
	row, record []int         // which field it is; record: nil where readers do not need it
	null        reflect.Value // what the record has where the column is null
	nullable    bool
	later       bool // versions before this one's did not write it
}

// columns lists them. A column that may be null is a pointer in the row: of plain
// values with the option "optional" the library writes some zeros as null and
// others not. Null stands for zero, or with the tag null:"unknown" for [results.Unknown].
// A column that the first versions did not write has the tag added:"later".
func (t table[Row, Record]) columns() (all []column) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Row]()) {
		tag, stored := field.Tag.Lookup("parquet")
		if !stored {
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		c := column{name: name, row: field.Index, nullable: field.Type.Kind() == reflect.Pointer, later: field.Tag.Get("added") == "later"}
		if of, kept := reflect.TypeFor[Record]().FieldByName(field.Name); kept {
			c.record, c.null = of.Index, reflect.Zero(of.Type)
			if field.Tag.Get("null") == "unknown" {
				c.null = reflect.ValueOf(results.Unknown).Convert(of.Type)
			}
		}
		all = append(all, c)
	}
	return all
}

// schemaOf says what a file must have, by the names of columns.
type schemaOf map[string]column

// check wants the columns that every version wrote.
func (s schemaOf) check(p *parquet.File) error {
	var lacks []string
	for name, c := range s {
		if _, ok := p.Schema().Lookup(name); !ok && !c.later {
			lacks = append(lacks, name)
		}
	}
	slices.Sort(lacks)
	if lacks != nil {
		return fmt.Errorf("it has no column %s", strings.Join(lacks, ", "))
	}
	return nil
}

func (t table[Row, Record]) schema() schemaOf {
	s := make(schemaOf)
	for _, c := range t.columns() {
		s[c.name] = c
	}
	return s
}

// schemas has those of all tables, by the names of their files.
func schemas() map[string]schemaOf {
	return map[string]schemaOf{
		flowsFile: flowTable().schema(), seriesFile: queueTable().schema(), goodputFile: serviceTable().schema(),
		probesFile: probeTable().schema(), sendersFile: senderTable().schema(), estimatesFile: estimateTable().schema(), delaysFile: delayTable().schema(),
		programsFile: programTable().schema(), figuresFile: figureTable().schema(),
	}
}

func (t table[Row, Record]) rows(at results.Coord, records []Record) []Row {
	rows := make([]Row, len(records))
	columns, whole := t.columns(), t.embeds()
	for i := range records {
		into, from := reflect.ValueOf(&rows[i]).Elem(), reflect.ValueOf(&records[i]).Elem()
		into.Field(0).Set(reflect.ValueOf(at))
		if whole != nil {
			into.FieldByIndex(whole).Set(from)
			continue
		}
		for _, c := range columns {
			if c.record == nil {
				continue
			}
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

// embeds is which field of a row is the record itself, which is faster to copy than column
// by column; nil: none is.
func (t table[Row, Record]) embeds() []int {
	record := reflect.TypeFor[Record]()
	if field, ok := reflect.TypeFor[Row]().FieldByName(record.Name()); ok && field.Anonymous && field.Type == record && t.row == nil {
		return field.Index
	}
	return nil
}

func (t table[Row, Record]) write(to folder, at results.Coord, records []Record) error {
	if t.sparse && len(records) == 0 {
		return nil
	}
	return to.write(t.file, func(w io.Writer) error { return parquet.Write(w, t.rows(at, records), schemaNote()) })
}

// schemaNote says in a file's metadata which schema it has.
func schemaNote() parquet.WriterOption {
	return parquet.KeyValueMetadata(results.SchemaKey, strconv.Itoa(results.Schema))
}

// read wants as many records as the point says that it has.
func (t table[Row, Record]) read(from folder, want int) (records []Record, err error) {
	if t.sparse && want == 0 {
		return nil, nil
	}
	path := from.path(t.file)
	err = withParquet(from, t.file, func(p *parquet.File) error {
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

// firstRows is how many records have room before any is read.
const firstRows = 1 << 16

// readColumns reads all records of a file, column after column, which takes a fifth
// of the time of row after row. What an older file has no column of is null.
func (t table[Row, Record]) readColumns(p *parquet.File) ([]Record, error) {
	if err := t.schema().check(p); err != nil {
		return nil, err
	}
	records := make([]Record, 0, min(p.NumRows(), firstRows))
	into := reflect.ValueOf(&records).Elem()
	for _, c := range t.columns() {
		if c.record == nil {
			continue
		}
		if !c.null.IsZero() {
			for i := range records {
				into.Index(i).FieldByIndex(c.record).Set(c.null)
			}
		}
		leaf, ok := p.Schema().Lookup(c.name)
		if !ok {
			continue
		}
		if err := readColumn(p, leaf.ColumnIndex, into, c); err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	for i := range records {
		if t.record == nil {
			break
		}
		if err := t.record(&records[i]); err != nil {
			return nil, fmt.Errorf("row %d: %w", i+1, err)
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

type delayRow struct {
	results.Coord
	results.DelayCount
}

func delayTable() table[delayRow, results.DelayCount] {
	return table[delayRow, results.DelayCount]{file: delaysFile, sparse: true}
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
		record: func(s *results.ProbeSample) error {
			s.Lost = s.RTT == 0
			return nil
		},
	}
}

type programRow struct {
	results.Coord
	Name        string        `parquet:"program,dict,zstd"`
	Host        string        `parquet:"host,dict,zstd"`
	Start       time.Duration `parquet:"start_ns,delta,zstd"`
	End         time.Duration `parquet:"end_ns,delta,zstd"`
	Exit        *int32        `parquet:"exit_status,optional,zstd" null:"unknown"` // null where a signal ended it, or it never began
	Signal      string        `parquet:"signal,dict,zstd"`
	Stopped     bool          `parquet:"stopped,zstd"`
	Error       string        `parquet:"error,dict,zstd"`
	Sent        *int64        `parquet:"sent_bytes,optional,zstd" null:"unknown"`     // null where nobody counted
	Received    *int64        `parquet:"received_bytes,optional,zstd" null:"unknown"` // the same
	Retransmits *int64        `parquet:"retransmits,optional,zstd" null:"unknown"`    // the same
}

func programTable() table[programRow, results.Program] {
	return table[programRow, results.Program]{file: programsFile, sparse: true}
}

type figureRow struct {
	results.Coord
	results.ProgramSample
}

func figureTable() table[figureRow, results.ProgramSample] {
	return table[figureRow, results.ProgramSample]{file: figuresFile, sparse: true}
}

type senderRow struct {
	results.Coord
	At       time.Duration  `parquet:"at_ns,delta,zstd"`
	Flow     int64          `parquet:"flow_id,delta,zstd"`
	Cwnd     *int64         `parquet:"cwnd_bytes,optional,zstd"`           // null of a sender with a rate
	SSThresh *int64         `parquet:"ssthresh_bytes,optional,zstd"`       // null before it has one
	SRTT     *time.Duration `parquet:"srtt_ns,optional,zstd"`              // null before the first measurement
	Alpha    *float64       `parquet:"alpha,optional,zstd" null:"unknown"` // null where there is none
	Rate     *int64         `parquet:"rate_bps,optional,zstd"`             // null of a sender that does not pace
}

func senderTable() table[senderRow, results.SenderSample] {
	return table[senderRow, results.SenderSample]{file: sendersFile, sparse: true}
}

type flowRow struct {
	results.Coord
	ID        int64          `parquet:"flow_id,delta,zstd"`
	Start     time.Duration  `parquet:"start_ns,delta,zstd"`
	Sent      time.Duration  `parquet:"sent_ns,delta,zstd"`
	FCT       *time.Duration `parquet:"fct_ns,optional,zstd" null:"unknown"` // null when the flow did not complete
	Bytes     int64          `parquet:"bytes,zstd"`
	Received  int64          `parquet:"received_bytes,zstd"`
	Client    int32          `parquet:"client,zstd"`
	Server    int32          `parquet:"server,zstd"`
	Service   int32          `parquet:"service,zstd"`
	Workload  int32          `parquet:"workload,zstd" added:"later"`
	Query     int64          `parquet:"query,delta,zstd" added:"later"` // 0: none
	Stops     bool           `parquet:"stops,zstd" added:"later"`
	Stop      time.Duration  `parquet:"stop_ns,delta,zstd" added:"later"` // 0: none, or not known
	Rate      int64          `parquet:"rate_bps,zstd" added:"later"`      // 0: no limit
	Push      bool           `parquet:"push,zstd" added:"later"`
	Transport int32          `parquet:"transport,zstd" added:"later"`
	Completed bool           `parquet:"completed,zstd"`
	Error     string         `parquet:"error,dict,zstd"`

	Retransmits *int64 `parquet:"retransmits,optional,zstd" null:"unknown" added:"later"` // null when nobody counted
	Timeouts    *int64 `parquet:"timeouts,optional,zstd" null:"unknown" added:"later"`    // the same
}

func flowTable() table[flowRow, results.Flow] {
	return table[flowRow, results.Flow]{file: flowsFile, record: checkFlow, row: func(r *flowRow, f results.Flow) {
		r.Completed, r.FCT = f.Completed(), nil
		if r.Completed {
			r.FCT = &f.FCT
		}
	}}
}

// checkFlow wants a time of each flow that is complete: without one it would seem to have
// taken none.
func checkFlow(f *results.Flow) error {
	switch {
	case f.FCT != results.Unknown:
	case f.Completed():
		return fmt.Errorf("flow %d is complete and has no fct_ns", f.ID)
	default:
		f.FCT = 0
	}
	return nil
}
