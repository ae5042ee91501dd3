package store

import (
	"aqmlab/results"
	"path/filepath"
	"time"
)

// estimateRow is one row of estimates.parquet.
type estimateRow struct {
	Scheme   string  `parquet:"scheme,dict,zstd"`
	Load     float64 `parquet:"load,dict,zstd"`
	Seed     uint64  `parquet:"seed,dict,zstd"`
	At       int64   `parquet:"at_ns,delta,zstd"`
	Switch   string  `parquet:"switch,dict,zstd"`
	Port     string  `parquet:"port,dict,zstd"`
	Queue    int32   `parquet:"queue,zstd"`
	Rate     int64   `parquet:"rate_bps,zstd"`
	Smoothed int64   `parquet:"smoothed_bps,zstd"`
}

func estimateRows(p results.Point) []estimateRow {
	rows := make([]estimateRow, len(p.Estimates))
	for i, e := range p.Estimates {
		rows[i] = estimateRow{
			Scheme: p.Scheme, Load: p.Load, Seed: p.Seed, At: int64(e.At),
			Switch: e.Switch, Port: e.Port, Queue: e.Queue, Rate: e.Rate, Smoothed: e.Smoothed,
		}
	}
	return rows
}

func (r estimateRow) sample() results.EstimateSample {
	return results.EstimateSample{At: time.Duration(r.At), Switch: r.Switch, Port: r.Port, Queue: r.Queue, Rate: r.Rate, Smoothed: r.Smoothed}
}

// ReadEstimates reads what the schemes of the point estimated, of which most points
// have kept nothing.
func (s Point) ReadEstimates() ([]results.EstimateSample, error) {
	if s.estimates == 0 {
		return nil, nil
	}
	rows, err := readParquet[estimateRow](filepath.Join(s.dir, estimatesFile), s.estimates)
	if err != nil {
		return nil, err
	}
	samples := make([]results.EstimateSample, len(rows))
	for i, r := range rows {
		samples[i] = r.sample()
	}
	return samples, nil
}
