package results

import (
	"encoding/json"
	"maps"
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
	return json.Marshal(map[string]any{"count": 0, "mean": nil, "p50": nil, "p95": nil, "p99": nil, "p999": nil})
}

// Percentile is the nearest-rank p-quantile of ascending values: the smallest
// of them that at least a share p does not exceed, that is the one of rank
// ceil(p n). It is always one of the values. p is in (0, 1]; without values
// the result is NaN.
func Percentile(ascending []float64, p float64) float64 {
	if len(ascending) == 0 {
		return math.NaN()
	}
	return ascending[NearestRank(len(ascending), p)-1]
}

// NearestRank is ceil(p n), in [1, n]. The small allowance keeps a product
// that should be whole, such as 0.95 x 20, from being rounded up.
func NearestRank(n int, p float64) int {
	return min(max(int(math.Ceil(p*float64(n)-1e-9)), 1), n)
}

// Summarize sums up the completed flows of a class.
func Summarize(flows []Flow, c Class) FCT {
	return SummarizeTimes(FlowTimes(flows, c))
}

// FlowTimes are the FCTs in microseconds of the completed flows of a class.
func FlowTimes(flows []Flow, c Class) []float64 {
	var us []float64
	for _, f := range flows {
		if f.Completed() && c.Holds(f.Bytes) {
			us = append(us, Microseconds(f.FCT))
		}
	}
	return us
}

// SummarizeTimes sums up times in microseconds. It sorts its argument.
func SummarizeTimes(us []float64) FCT {
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

// MeanGoodput is the mean over points; a service has none in a point without
// flows of it.
func MeanGoodput(points []Point) []ServiceGoodput {
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

// Counts are the totals that stand beside the FCTs.
type Counts struct {
	Marks    int64 `json:"marks"`    // packets that switches marked CE; all of these are [Unknown] of another simulator's points
	Drops    int64 `json:"drops"`    // packets that switches dropped, for want of room or by the scheme
	Timeouts int64 `json:"timeouts"` // retransmission timeouts of all hosts

	DropsFull   int64 `json:"drops_full"`    // of the drops: the buffer had no room
	DropsScheme int64 `json:"drops_scheme"`  // of the drops: the scheme said so
	LinkLosses  int64 `json:"lost_on_links"` // packets that links lost
	Retransmits int64 `json:"retransmits"`   // packets that hosts sent again

	Pauses int64         `json:"pauses,omitempty"`    // times that flow control stopped a link
	Paused time.Duration `json:"paused_ns,omitempty"` // for how long, over all links
}

// CountsOf adds up what points counted. What another simulator did not tell is [Unknown].
func CountsOf(points ...Point) (c Counts) {
	for _, p := range points {
		if p.Foreign() {
			c = Counts{Marks: Unknown, Drops: Unknown, Timeouts: Unknown, DropsFull: Unknown, DropsScheme: Unknown, LinkLosses: Unknown, Retransmits: Unknown}
			return c
		}
		for _, q := range p.Ports {
			c.Marks += q.Marked
			c.DropsFull += q.DropsFull
			c.DropsScheme += q.DropsScheme
		}
		for _, l := range p.Links {
			c.LinkLosses += l.Lost + l.LostDown
		}
		for _, f := range p.Pauses {
			c.Pauses += f.Stops
			c.Paused += f.Stopped
		}
		for _, h := range p.Hosts {
			c.Timeouts += h.Timeouts
			c.Retransmits += h.Retransmits
		}
	}
	c.Drops = c.DropsFull + c.DropsScheme
	return c
}

// TimedOut counts the completed flows of each class for which a retransmission
// timer expired, or is nil where that was not counted.
func TimedOut(flows []Flow) map[Class]int {
	if len(flows) == 0 || slices.ContainsFunc(flows, func(f Flow) bool { return f.Completed() && f.Timeouts == Unknown }) {
		return nil
	}
	n := make(map[Class]int)
	for _, c := range Classes() {
		n[c] = 0
		for _, f := range flows {
			if f.Completed() && c.Holds(f.Bytes) && f.Timeouts > 0 {
				n[c]++
			}
		}
	}
	return n
}

// ProbeSummary sums up what one probe measured.
type ProbeSummary struct {
	Probe string `json:"probe"`
	Sent  int    `json:"sent"`
	Lost  int    `json:"lost"`
	RTT   FCT    `json:"rtt_us"` // of those that were answered
}

// SummarizeProbes sums up samples by the names of their probes, in the order in
// which these come first.
func SummarizeProbes(samples []ProbeSample) []ProbeSummary {
	var sums []ProbeSummary
	var rtts [][]float64
	at := make(map[string]int)
	for _, s := range samples {
		i, ok := at[s.Probe]
		if !ok {
			i = len(sums)
			at[s.Probe] = i
			sums, rtts = append(sums, ProbeSummary{Probe: s.Probe}), append(rtts, nil)
		}
		sums[i].Sent++
		if s.Lost {
			sums[i].Lost++
			continue
		}
		rtts[i] = append(rtts[i], Microseconds(s.RTT))
	}
	for i := range sums {
		sums[i].RTT = SummarizeTimes(rtts[i])
	}
	return sums
}
