package results

import (
	"maps"
	"path/filepath"
	"slices"
	"time"
)

// ServiceGoodput is the goodput of one service, see [Goodput].
type ServiceGoodput struct {
	Service int32   `json:"service"`
	Goodput float64 `json:"goodput_gbps"`
}

// GoodputByService is the goodput of every service that flows belong to, in
// their order. Each counts from its own first request to its own last
// completion.
func GoodputByService(flows []Flow) []ServiceGoodput {
	of := make(map[int32][]Flow)
	for _, f := range flows {
		of[f.Service] = append(of[f.Service], f)
	}
	var out []ServiceGoodput
	for _, service := range slices.Sorted(maps.Keys(of)) {
		out = append(out, ServiceGoodput{service, Goodput(of[service])})
	}
	return out
}

// meanGoodput is the mean over points; a service has none in a point without
// flows of it.
func meanGoodput(points []Point) []ServiceGoodput {
	sum := make(map[int32]float64)
	for _, p := range points {
		for _, s := range GoodputByService(p.Flows) {
			sum[s.Service] += s.Goodput
		}
	}
	var out []ServiceGoodput
	for _, service := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, ServiceGoodput{service, sum[service] / float64(len(points))})
	}
	return out
}

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

func serviceSampleRows(p Point) []goodputRow {
	rows := make([]goodputRow, len(p.Services))
	for i, s := range p.Services {
		rows[i] = goodputRow{p.Scheme, p.Load, p.Seed, int64(s.At), int64(s.Over), s.Service, s.Bytes}
	}
	return rows
}

// ReadServices reads what services delivered over time. Points that were measured
// by versions before this was have nothing.
func (s StoredPoint) ReadServices() ([]ServiceSample, error) {
	if s.goodput == 0 {
		return nil, nil
	}
	rows, err := readParquet[goodputRow](filepath.Join(s.dir, goodputFile), s.goodput)
	if err != nil {
		return nil, err
	}
	samples := make([]ServiceSample, len(rows))
	for i, r := range rows {
		samples[i] = ServiceSample{time.Duration(r.At), time.Duration(r.Over), r.Service, r.Bytes}
	}
	return samples, nil
}
