package results

import (
	"encoding/json"
	"math"
	"slices"
	"time"
)

// FCT summarises flow completion times, or other times that something took, in
// microseconds of lab time. Percentiles are nearest-rank (see [Percentile]). With a Count of zero the
// other fields mean nothing, and JSON has them as null.
type FCT struct {
	Count int     `json:"count"` // of times: of completed flows
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	P999  float64 `json:"p999"`
}

// MarshalJSON writes null for what zero flows do not have.
func (f FCT) MarshalJSON() ([]byte, error) {
	type plain FCT
	if f.Count > 0 {
		return json.Marshal(plain(f))
	}
	return json.Marshal(struct {
		Count int  `json:"count"`
		Mean  *int `json:"mean"`
		P50   *int `json:"p50"`
		P95   *int `json:"p95"`
		P99   *int `json:"p99"`
		P999  *int `json:"p999"`
	}{})
}

// Percentile is the nearest-rank p-quantile of ascending values: the smallest
// of them that at least a share p does not exceed, that is the one of rank
// ceil(p n). It is always one of the values. p is in (0, 1]; without values
// the result is NaN.
func Percentile(ascending []float64, p float64) float64 {
	if len(ascending) == 0 {
		return math.NaN()
	}
	return ascending[nearestRank(len(ascending), p)-1]
}

// nearestRank is ceil(p n), in [1, n]. The small allowance keeps a product
// that should be whole, such as 0.95 x 20, from being rounded up.
func nearestRank(n int, p float64) int {
	return min(max(int(math.Ceil(p*float64(n)-1e-9)), 1), n)
}

// Summarize sums up the completed flows of a class.
func Summarize(flows []Flow, c Class) FCT {
	return summarize(flowTimes(flows, c))
}

// flowTimes are the FCTs in microseconds of the completed flows of a class.
func flowTimes(flows []Flow, c Class) []float64 {
	var us []float64
	for _, f := range flows {
		if f.Completed() && c.Holds(f.Bytes) {
			us = append(us, micros(f.FCT))
		}
	}
	return us
}

// summarize sorts its argument.
func summarize(us []float64) FCT {
	if len(us) == 0 {
		return FCT{}
	}
	slices.Sort(us)
	return FCT{
		Count: len(us),
		Mean:  mean(us),
		P50:   Percentile(us, 0.50),
		P95:   Percentile(us, 0.95),
		P99:   Percentile(us, 0.99),
		P999:  Percentile(us, 0.999),
	}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}

// Goodput is the rate in Gbps at which completed flows delivered their bytes,
// from the first request to the last completion. Flows that did not complete
// are left out: when their bytes arrived is not known. It is zero without
// completed flows.
func Goodput(flows []Flow) float64 {
	first, last := time.Duration(math.MaxInt64), time.Duration(math.MinInt64)
	var bytes int64
	for _, f := range flows {
		if f.Completed() {
			bytes += f.Bytes
			first, last = min(first, f.Sent), max(last, f.Sent+f.FCT)
		}
	}
	if last <= first {
		return 0
	}
	return float64(bytes) * 8 / float64(last-first)
}

// Counts are the totals that stand beside the FCTs.
type Counts struct {
	Marks    int64 `json:"marks"`    // packets that switches marked CE
	Drops    int64 `json:"drops"`    // packets that switches dropped, for want of room or by the scheme
	Timeouts int64 `json:"timeouts"` // retransmission timeouts of all hosts
}

// CountsOf adds up ports and hosts.
func CountsOf(ports []PortCount, hosts []HostCount) Counts {
	var c Counts
	for _, p := range ports {
		c.Marks += p.Marked
		c.Drops += p.DropsFull + p.DropsScheme
	}
	for _, h := range hosts {
		c.Timeouts += h.Timeouts
	}
	return c
}

func (c Counts) plus(o Counts) Counts {
	return Counts{c.Marks + o.Marks, c.Drops + o.Drops, c.Timeouts + o.Timeouts}
}
