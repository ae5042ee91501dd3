package store

import (
	"path/filepath"
	"time"

	"aqmlab/results"
)

// table is one kind of record of a point, kept in a file of its own. Rows repeat
// the point's coordinate, so that a query over many folders ("*/flows.parquet")
// needs no path parsing; a dictionary makes that almost free.
type table[Row, Record any] struct {
	file   string
	sparse bool // points without any such record have no file
	row    func(results.Coord, Record) Row
	record func(Row) Record
}

func (t table[Row, Record]) rows(at results.Coord, records []Record) []Row {
	rows := make([]Row, len(records))
	for i, r := range records {
		rows[i] = t.row(at, r)
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
func (t table[Row, Record]) read(dir string, want int) ([]Record, error) {
	if t.sparse && want == 0 {
		return nil, nil
	}
	rows, err := readParquet[Row](filepath.Join(dir, t.file), want)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(rows))
	for i, r := range rows {
		records[i] = t.record(r)
	}
	return records, nil
}

type queueRow struct {
	results.Coord
	results.QueueSample
}

func queueTable() table[queueRow, results.QueueSample] {
	return table[queueRow, results.QueueSample]{
		file:   seriesFile,
		row:    func(at results.Coord, s results.QueueSample) queueRow { return queueRow{at, s} },
		record: func(r queueRow) results.QueueSample { return r.QueueSample },
	}
}

type goodputRow struct {
	results.Coord
	results.ServiceSample
}

func serviceTable() table[goodputRow, results.ServiceSample] {
	return table[goodputRow, results.ServiceSample]{
		file: goodputFile, sparse: true,
		row:    func(at results.Coord, s results.ServiceSample) goodputRow { return goodputRow{at, s} },
		record: func(r goodputRow) results.ServiceSample { return r.ServiceSample },
	}
}

type estimateRow struct {
	results.Coord
	results.EstimateSample
}

func estimateTable() table[estimateRow, results.EstimateSample] {
	return table[estimateRow, results.EstimateSample]{
		file: estimatesFile, sparse: true,
		row:    func(at results.Coord, s results.EstimateSample) estimateRow { return estimateRow{at, s} },
		record: func(r estimateRow) results.EstimateSample { return r.EstimateSample },
	}
}

// Columns that may be null are pointers: of plain values with the option "optional"
// the library writes some zeros as null and others not.

type probeRow struct {
	results.Coord
	Probe string         `parquet:"probe,dict,zstd"`
	At    time.Duration  `parquet:"at_ns,delta,zstd"`
	RTT   *time.Duration `parquet:"rtt_ns,optional,zstd"` // null when it was lost
}

func probeTable() table[probeRow, results.ProbeSample] {
	return table[probeRow, results.ProbeSample]{
		file: probesFile, sparse: true,
		row: func(at results.Coord, s results.ProbeSample) probeRow {
			return probeRow{at, s.Probe, s.At, unless(0, s.RTT)}
		},
		record: func(r probeRow) results.ProbeSample {
			return results.ProbeSample{Probe: r.Probe, At: r.At, RTT: or(0, r.RTT), Lost: r.RTT == nil}
		},
	}
}

type senderRow struct {
	results.Coord
	At       time.Duration  `parquet:"at_ns,delta,zstd"`
	Flow     int64          `parquet:"flow_id,delta,zstd"`
	Cwnd     *int64         `parquet:"cwnd_bytes,optional,zstd"`     // null of a sender with a rate
	SSThresh *int64         `parquet:"ssthresh_bytes,optional,zstd"` // null before it has one
	SRTT     *time.Duration `parquet:"srtt_ns,optional,zstd"`        // null before the first measurement
	Alpha    *float64       `parquet:"alpha,optional,zstd"`          // null where there is none
	Rate     *int64         `parquet:"rate_bps,optional,zstd"`       // null of a sender with a window
}

func senderTable() table[senderRow, results.SenderSample] {
	return table[senderRow, results.SenderSample]{
		file: sendersFile, sparse: true,
		row: func(at results.Coord, s results.SenderSample) senderRow {
			return senderRow{at, s.At, s.Flow, unless(0, s.Cwnd), unless(0, s.SSThresh), unless(0, s.SRTT), unless(results.Unknown, s.Alpha), unless(0, s.Rate)}
		},
		record: func(r senderRow) results.SenderSample {
			return results.SenderSample{
				At: r.At, Flow: r.Flow, Cwnd: or(0, r.Cwnd), SSThresh: or(0, r.SSThresh),
				SRTT: or(0, r.SRTT), Alpha: or(results.Unknown, r.Alpha), Rate: or(0, r.Rate),
			}
		},
	}
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

	Retransmits *int64 `parquet:"retransmits,optional,zstd"` // null when nobody counted
	Timeouts    *int64 `parquet:"timeouts,optional,zstd"`    // the same
}

func flowTable() table[flowRow, results.Flow] {
	return table[flowRow, results.Flow]{
		file: flowsFile,
		row: func(at results.Coord, f results.Flow) flowRow {
			r := flowRow{
				Coord: at, ID: f.ID, Start: f.Start, Sent: f.Sent, Bytes: f.Bytes, Received: f.Received,
				Client: f.Client, Server: f.Server, Service: f.Service, Workload: f.Workload, Query: f.Query,
				Stops: f.Stops, Stop: f.Stop, Rate: f.Rate, Push: f.Push, Completed: f.Completed(), Error: f.Error,
				Retransmits: unless(results.Unknown, f.Retransmits), Timeouts: unless(results.Unknown, f.Timeouts),
			}
			if r.Completed {
				r.FCT = &f.FCT
			}
			return r
		},
		record: func(r flowRow) results.Flow {
			return results.Flow{
				ID: r.ID, Start: r.Start, Sent: r.Sent, FCT: or(0, r.FCT), Bytes: r.Bytes, Received: r.Received,
				Client: r.Client, Server: r.Server, Service: r.Service, Workload: r.Workload, Query: r.Query,
				Stops: r.Stops, Stop: r.Stop, Rate: r.Rate, Push: r.Push, Error: r.Error,
				Retransmits: or(results.Unknown, r.Retransmits), Timeouts: or(results.Unknown, r.Timeouts),
			}
		},
	}
}

// unless is a value for a column that is null for one value of it.
func unless[T comparable](null, v T) *T {
	if v == null {
		return nil
	}
	return &v
}

// or is what unless wrote.
func or[T any](null T, column *T) T {
	if column == nil {
		return null
	}
	return *column
}
