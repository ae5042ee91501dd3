package store

import (
	"aqmlab/results"
	"path/filepath"
	"time"
)

// senderRow is one row of senders.parquet.
type senderRow struct {
	Scheme   string   `parquet:"scheme,dict,zstd"`
	Load     float64  `parquet:"load,dict,zstd"`
	Seed     uint64   `parquet:"seed,dict,zstd"`
	At       int64    `parquet:"at_ns,delta,zstd"`
	Flow     int64    `parquet:"flow_id,delta,zstd"`
	Cwnd     *int64   `parquet:"cwnd_bytes,optional,zstd"`     // null of a sender with a rate
	SSThresh *int64   `parquet:"ssthresh_bytes,optional,zstd"` // null before it has one
	SRTT     *int64   `parquet:"srtt_ns,optional,zstd"`        // null before the first measurement
	Alpha    *float64 `parquet:"alpha,optional,zstd"`          // null where there is none
	Rate     *int64   `parquet:"rate_bps,optional,zstd"`       // null of a sender with a window
}

func senderRows(p results.Point) []senderRow {
	rows := make([]senderRow, len(p.Senders))
	for i, s := range p.Senders {
		rows[i] = senderRow{
			Scheme: p.Scheme, Load: p.Load, Seed: p.Seed, At: int64(s.At), Flow: s.Flow,
			Cwnd: unless(0, s.Cwnd), SSThresh: unless(0, s.SSThresh), SRTT: unless(0, int64(s.SRTT)),
			Alpha: unless(results.Unknown, s.Alpha), Rate: unless(0, s.Rate),
		}
	}
	return rows
}

func (r senderRow) sample() results.SenderSample {
	return results.SenderSample{
		At: time.Duration(r.At), Flow: r.Flow, Cwnd: or(0, r.Cwnd), SSThresh: or(0, r.SSThresh),
		SRTT: time.Duration(or(0, r.SRTT)), Alpha: or(results.Unknown, r.Alpha), Rate: or(0, r.Rate),
	}
}

// ReadSenders reads the samples of senders, of which most points have none.
func (s Point) ReadSenders() ([]results.SenderSample, error) {
	if s.senders == 0 {
		return nil, nil
	}
	rows, err := readParquet[senderRow](filepath.Join(s.dir, sendersFile), s.senders)
	if err != nil {
		return nil, err
	}
	samples := make([]results.SenderSample, len(rows))
	for i, r := range rows {
		samples[i] = r.sample()
	}
	return samples, nil
}
