package trafficgen

import (
	"math"

	"aqmlab/trafficgen/traffic"
)

// Summary describes a distribution of sizes.
type Summary struct {
	Mean      float64 `json:"mean_bytes"`
	Deviation float64 `json:"deviation_bytes"` // standard deviation
	// Quantiles are some sizes that a share of the flows do not exceed, rising.
	Quantiles []Quantile `json:"quantiles"`
	// Classes are the small, medium and large flows, in this order.
	Classes []Class `json:"classes"`
}

// Quantile is a size in bytes that a share of the flows does not exceed.
type Quantile struct {
	Share float64 `json:"share"`
	Bytes float64 `json:"bytes"`
}

// Class is the flows of some sizes, as shares of all flows and of all bytes.
type Class struct {
	Name  string  `json:"name"`
	UpTo  float64 `json:"up_to_bytes"` // largest size, inclusive
	Flows float64 `json:"flows"`
	Bytes float64 `json:"bytes"`
}

// Summarize describes a distribution. Mean and quantiles are the distribution's
// own; deviation and shares are summed over 100,000 of its quantiles.
func Summarize(d Distribution) Summary {
	const steps = 100_000
	s := Summary{
		Mean:    d.Mean(),
		Classes: []Class{{Name: "small", UpTo: 100e3}, {Name: "medium", UpTo: 10e6}, {Name: "large", UpTo: traffic.MaxBytes}},
	}
	for _, share := range []float64{0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999} {
		s.Quantiles = append(s.Quantiles, Quantile{share, d.Quantile(share)})
	}
	var sum, squares float64
	for i := range steps {
		bytes := d.Quantile((float64(i) + 0.5) / steps)
		sum += bytes
		squares += (bytes - s.Mean) * (bytes - s.Mean)
		class := 0
		for bytes > s.Classes[class].UpTo {
			class++
		}
		s.Classes[class].Flows += 1. / steps
		s.Classes[class].Bytes += bytes
	}
	s.Deviation = math.Sqrt(squares / steps)
	for i := range s.Classes {
		s.Classes[i].Bytes /= sum
	}
	return s
}

// Sample draws that many sizes with a seed.
func Sample(d Distribution, n int, seed uint64) []int64 {
	r := newStreams(seed, 0).sizes
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = d.Draw(r)
	}
	return sizes
}
