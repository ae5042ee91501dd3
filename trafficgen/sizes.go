package trafficgen

import (
	"embed"
	"fmt"
	"math"
	"math/rand/v2"

	"aqmlab/kind"
	"aqmlab/trafficgen/traffic"
	"aqmlab/units"
)

// Distribution is a distribution of flow sizes in bytes of payload.
type Distribution interface {
	Draw(*rand.Rand) int64 // from 1 to [MaxBytes]
	Mean() float64
	// Quantile is the size that a flow does not exceed with probability p, in
	// [0, 1), before rounding. It is for showing the distribution.
	Quantile(p float64) float64
}

//go:embed cdf/*.csv
var published embed.FS

func embedded(name string) func(struct{}, Env) (Distribution, error) {
	return func(struct{}, Env) (Distribution, error) {
		f, err := published.Open("cdf/" + name + ".csv")
		if err != nil {
			return nil, fmt.Errorf("opening a table that ships with aqmlab: %w", err)
		}
		defer f.Close()
		return parseCDF(name+".csv", f)
	}
}

// cdfFile reads a table of its own.
type cdfFile struct {
	File string `lab:"file" doc:"lines of a size in bytes and a cumulative probability, with a comma or blanks between; # starts a comment"`
}

func newCDFFile(p cdfFile, env Env) (Distribution, error) {
	if p.File == "" {
		return nil, kind.Invalid("file", "missing: want the name of a file")
	}
	f, err := env.open(p.File)
	if err != nil {
		return nil, kind.Invalid("file", "opening the table of sizes: %w", err)
	}
	defer f.Close()
	d, err := parseCDF(f.Name(), f)
	if err != nil {
		return nil, kind.Invalid("file", "%w", err)
	}
	return d, nil
}

type fixed struct {
	Size units.Size `lab:"size" doc:"payload of every flow"`
}

var _ Distribution = fixed{}

func newFixed(p fixed, _ Env) (Distribution, error) {
	return p, checkSize("size", p.Size)
}

func (d fixed) Draw(*rand.Rand) int64    { return int64(d.Size) }
func (d fixed) Mean() float64            { return float64(d.Size) }
func (d fixed) Quantile(float64) float64 { return float64(d.Size) }

type uniform struct {
	Min units.Size `lab:"min" doc:"smallest payload"`
	Max units.Size `lab:"max" doc:"largest payload"`
}

var _ Distribution = uniform{}

func newUniform(p uniform, _ Env) (Distribution, error) {
	if err := checkSize("min", p.Min); err != nil {
		return nil, err
	}
	if err := checkSize("max", p.Max); err != nil {
		return nil, err
	}
	if p.Max < p.Min {
		return nil, kind.Invalid("max", "%v is below min, %v", p.Max, p.Min)
	}
	return p, nil
}

func (d uniform) Draw(r *rand.Rand) int64 { return int64(d.Min) + r.Int64N(int64(d.Max-d.Min)+1) }
func (d uniform) Mean() float64           { return (float64(d.Min) + float64(d.Max)) / 2 }
func (d uniform) Quantile(p float64) float64 {
	return float64(d.Min) + math.Floor(p*float64(d.Max-d.Min+1))
}

func checkSize(param string, s units.Size) error {
	if s < 1 || s > traffic.MaxBytes {
		return kind.Invalid(param, "%v is outside 1B to %dB: want a size such as 64KB", s, int64(traffic.MaxBytes))
	}
	return nil
}

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
