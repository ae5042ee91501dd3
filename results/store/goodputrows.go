package store

import (
	"aqmlab/results"
	"path/filepath"
	"time"
)

// goodputRow is one row of goodput.parquet.
type goodputRow struct {
	Scheme  string  `parquet:"scheme,dict,zstd"`
	Load    float64 `parquet:"load,dict,zstd"`
	Seed    uint64  `parquet:"seed,dict,zstd"`
	At      int64   `parquet:"at_ns,delta,zstd"`
	Over    int64   `parquet:"interval_ns,delta,zstd"`
	Service int32   `parquet:"service,dict,zstd"`
	Bytes   int64   `parquet:"bytes,delta,zstd"`
}

func serviceSampleRows(p results.Point) []goodputRow {
	rows := make([]goodputRow, len(p.Services))
	for i, s := range p.Services {
		rows[i] = goodputRow{p.Scheme, p.Load, p.Seed, int64(s.At), int64(s.Over), s.Service, s.Bytes}
	}
	return rows
}

// ReadServices reads what services delivered over time. Points that were measured
// by versions before this was have nothing.
func (s Point) ReadServices() ([]results.ServiceSample, error) {
	if s.goodput == 0 {
		return nil, nil
	}
	rows, err := readParquet[goodputRow](filepath.Join(s.dir, goodputFile), s.goodput)
	if err != nil {
		return nil, err
	}
	samples := make([]results.ServiceSample, len(rows))
	for i, r := range rows {
		samples[i] = results.ServiceSample{At: time.Duration(r.At), Over: time.Duration(r.Over), Service: r.Service, Bytes: r.Bytes}
	}
	return samples, nil
}
