package store

import (
	"aqmlab/results"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Rows repeat the point's coordinates, so that a query over many folders
// ("*/flows.parquet") needs no path parsing; a dictionary makes them almost
// free.

// flowRow is one row of flows.parquet.
type flowRow struct {
	Scheme    string  `parquet:"scheme,dict,zstd"`
	Load      float64 `parquet:"load,dict,zstd"`
	Seed      uint64  `parquet:"seed,dict,zstd"`
	ID        int64   `parquet:"flow_id,delta,zstd"`
	Start     int64   `parquet:"start_ns,delta,zstd"`
	Sent      int64   `parquet:"sent_ns,delta,zstd"`
	FCT       *int64  `parquet:"fct_ns,optional,zstd"` // null when the flow did not complete
	Bytes     int64   `parquet:"bytes,zstd"`
	Received  int64   `parquet:"received_bytes,zstd"`
	Client    int32   `parquet:"client,zstd"`
	Server    int32   `parquet:"server,zstd"`
	Service   int32   `parquet:"service,zstd"`
	Workload  int32   `parquet:"workload,zstd"`
	Query     int64   `parquet:"query,delta,zstd"` // 0: none
	Stops     bool    `parquet:"stops,zstd"`
	Stop      int64   `parquet:"stop_ns,delta,zstd"` // 0: none, or not known
	Rate      int64   `parquet:"rate_bps,zstd"`      // 0: no limit
	Push      bool    `parquet:"push,zstd"`
	Completed bool    `parquet:"completed,zstd"`
	Error     string  `parquet:"error,dict,zstd"`

	Retransmits *int64 `parquet:"retransmits,optional,zstd"` // null when nobody counted
	Timeouts    *int64 `parquet:"timeouts,optional,zstd"`    // the same
}

// probeRow is one row of probes.parquet.
type probeRow struct {
	Scheme string  `parquet:"scheme,dict,zstd"`
	Load   float64 `parquet:"load,dict,zstd"`
	Seed   uint64  `parquet:"seed,dict,zstd"`
	Probe  string  `parquet:"probe,dict,zstd"`
	At     int64   `parquet:"at_ns,delta,zstd"`
	RTT    *int64  `parquet:"rtt_ns,optional,zstd"` // null when it was lost
}

// queueRow is one row of series.parquet.
type queueRow struct {
	Scheme    string  `parquet:"scheme,dict,zstd"`
	Load      float64 `parquet:"load,dict,zstd"`
	Seed      uint64  `parquet:"seed,dict,zstd"`
	At        int64   `parquet:"at_ns,delta,zstd"`
	Switch    string  `parquet:"switch,dict,zstd"`
	Port      string  `parquet:"port,dict,zstd"`
	Queue     int32   `parquet:"queue,zstd"`
	Bytes     int64   `parquet:"queue_bytes,zstd"`
	PeakBytes int64   `parquet:"peak_bytes,zstd"`
	Sent      int64   `parquet:"sent_bytes,zstd"`
	Marks     int64   `parquet:"marks,zstd"`
	Drops     int64   `parquet:"drops,zstd"`

	DropsScheme int64 `parquet:"scheme_drops,zstd"`
	Packets     int64 `parquet:"sent_packets,zstd"`
	Waited      int64 `parquet:"sojourn_ns,zstd"`
	PeakWaited  int64 `parquet:"peak_sojourn_ns,zstd"`
}

func flowRows(p results.Point) []flowRow {
	rows := make([]flowRow, len(p.Flows))
	for i, f := range p.Flows {
		rows[i] = flowRow{
			Scheme: p.Scheme, Load: p.Load, Seed: p.Seed,
			ID: f.ID, Start: int64(f.Start), Sent: int64(f.Sent),
			Bytes: f.Bytes, Received: f.Received,
			Client: f.Client, Server: f.Server, Service: f.Service,
			Workload: f.Workload, Query: f.Query, Stops: f.Stops,
			Stop: int64(f.Stop), Rate: f.Rate, Push: f.Push,
			Completed: f.Completed(), Error: f.Error,
			Retransmits: unless(results.Unknown, f.Retransmits), Timeouts: unless(results.Unknown, f.Timeouts),
		}
		if f.Completed() {
			fct := int64(f.FCT)
			rows[i].FCT = &fct
		}
	}
	return rows
}

func (r flowRow) flow() results.Flow {
	f := results.Flow{
		ID: r.ID, Start: time.Duration(r.Start), Sent: time.Duration(r.Sent),
		Bytes: r.Bytes, Received: r.Received,
		Client: r.Client, Server: r.Server, Service: r.Service,
		Workload: r.Workload, Query: r.Query, Stops: r.Stops,
		Stop: time.Duration(r.Stop), Rate: r.Rate, Push: r.Push,
		Error:       r.Error,
		Retransmits: or(results.Unknown, r.Retransmits), Timeouts: or(results.Unknown, r.Timeouts),
	}
	if r.FCT != nil {
		f.FCT = time.Duration(*r.FCT)
	}
	return f
}

func probeRows(p results.Point) []probeRow {
	rows := make([]probeRow, len(p.Probes))
	for i, s := range p.Probes {
		rows[i] = probeRow{Scheme: p.Scheme, Load: p.Load, Seed: p.Seed, Probe: s.Probe, At: int64(s.At)}
		if !s.Lost {
			rtt := int64(s.RTT)
			rows[i].RTT = &rtt
		}
	}
	return rows
}

func (r probeRow) sample() results.ProbeSample {
	s := results.ProbeSample{Probe: r.Probe, At: time.Duration(r.At), Lost: r.RTT == nil}
	if r.RTT != nil {
		s.RTT = time.Duration(*r.RTT)
	}
	return s
}

func queueRows(p results.Point) []queueRow {
	rows := make([]queueRow, len(p.Queues))
	for i, q := range p.Queues {
		rows[i] = queueRow{
			Scheme: p.Scheme, Load: p.Load, Seed: p.Seed,
			At: int64(q.At), Switch: q.Switch, Port: q.Port, Queue: q.Queue,
			Bytes: q.Bytes, PeakBytes: q.PeakBytes, Sent: q.Sent, Marks: q.Marks, Drops: q.Drops,
			DropsScheme: q.DropsScheme, Packets: q.Packets, Waited: int64(q.Waited), PeakWaited: int64(q.PeakWaited),
		}
	}
	return rows
}

func (r queueRow) sample() results.QueueSample {
	return results.QueueSample{
		At: time.Duration(r.At), Switch: r.Switch, Port: r.Port, Queue: r.Queue,
		Bytes: r.Bytes, PeakBytes: r.PeakBytes, Sent: r.Sent, Marks: r.Marks, Drops: r.Drops,
		DropsScheme: r.DropsScheme, Packets: r.Packets, Waited: time.Duration(r.Waited), PeakWaited: time.Duration(r.PeakWaited),
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
