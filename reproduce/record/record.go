// Package record keeps what was measured of published experiments: one file an
// experiment, in this folder by default. It knows neither labs nor claims.
package record

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"aqmlab/results"
)

// Record is what is kept of an experiment for good: every figure that its claims
// are judged by, the points that these are from, and what measured them. It says
// as much as the card needs, so that runs, which are a thousand times its size,
// need not be kept.
type Record struct {
	Paper      string            `json:"paper"`
	Experiment string            `json:"experiment"`
	Origins    map[string]Origin `json:"origins"` // by their [Hash]
	Figures    []Figure          `json:"figures"`
	Points     []Point           `json:"points"`
}

// New is a record that holds nothing yet.
func New(paper, experiment string) *Record {
	return &Record{Paper: paper, Experiment: experiment, Origins: make(map[string]Origin)}
}

// Origin is what measured.
type Origin struct {
	Version  string          `json:"aqmlab_version"`
	Revision string          `json:"git_revision"`
	Command  string          `json:"command"`
	Machine  results.Machine `json:"machine"`
}

// Figure is what was measured for a claim with one scheme at one load, or why that
// is nothing. For a claim about a baseline it is the difference from it in percent,
// for others the figure itself in its unit.
type Figure struct {
	Claim   string  `json:"claim"`
	Runtime string  `json:"runtime"`
	Scheme  string  `json:"scheme"`
	Load    float64 `json:"load"`
	Scale   string  `json:"scale"`
	Flows   int     `json:"flows"` // a point
	Seeds   int     `json:"seeds"`
	Runs    int     `json:"runs,omitempty"` // of the seeds those whose flows differ; zero: not noted
	Value   Number  `json:"value"`
	// CI95 is the 95 % interval of Value: of pairs of flows where these are
	// compared, else of the seeds. There is none with a single seed of these.
	CI95 *[2]Number `json:"ci95,omitempty"`
	// From and To are the figures of the baseline and of the scheme, in their
	// unit; To alone without a baseline.
	From        Number    `json:"baseline_value"`
	To          Number    `json:"scheme_value"`
	LowFidelity bool      `json:"low_fidelity,omitempty"` // some point of it is labelled so
	Nothing     string    `json:"nothing,omitempty"`      // why there is no figure
	Fingerprint string    `json:"of"`                     // of the labs, and of what the figure is taken of
	Measured    time.Time `json:"measured"`               // when the last of its points began
	Origin      string    `json:"origin"`
}

// Point sums up a point.
type Point struct {
	Lab     string `json:"lab"`
	Runtime string `json:"runtime"`
	results.Coord
	Flows       int                  `json:"flows"`
	Completed   int                  `json:"completed"`
	Marks       int64                `json:"marks"`
	Drops       int64                `json:"drops"`
	Timeouts    int64                `json:"timeouts"`
	FCT         map[string][]float64 `json:"fct_us"` // mean and 99th percentile, by class
	Seconds     float64              `json:"seconds"`
	Fingerprint string               `json:"of"` // of the lab
	Measured    time.Time            `json:"measured"`
	Origin      string               `json:"origin"`
}

// Number is a number that JSON may have no word for: then a string has it.
type Number float64

// MarshalJSON writes a number, or "+Inf", "-Inf" or "NaN".
func (n Number) MarshalJSON() ([]byte, error) {
	if b, err := json.Marshal(float64(n)); err == nil {
		return b, nil
	}
	return json.Marshal(fmt.Sprint(float64(n)))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(b []byte) error {
	if _, err := fmt.Sscan(string(bytes.Trim(b, `"`)), (*float64)(n)); err != nil {
		return fmt.Errorf("%s is no number: %w", b, err)
	}
	return nil
}

// Hash is eight hexadecimal digits, the same for equal values.
func Hash(v any) string {
	sum := sha256.Sum256([]byte(compact(v)))
	return hex.EncodeToString(sum[:4])
}

// compact is a value as JSON on one line. All that records hold can be written.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a record that cannot be written: %v", err))
	}
	return string(b)
}

// Effort is what one origin measured on one runtime.
type Effort struct {
	Origin
	Runtime     string
	Points      int
	Took        time.Duration // of the points, added up
	First, Last time.Time     // when points began
}

// Efforts adds up the points of records, in the order of time.
func Efforts(records map[string]*Record) []Effort {
	sums := make(map[string]Effort)
	for _, r := range records {
		for _, k := range r.Points {
			e, ok := sums[k.Origin+k.Runtime]
			if !ok {
				e = Effort{Origin: r.Origins[k.Origin], Runtime: k.Runtime, First: k.Measured, Last: k.Measured}
			}
			e.Points++
			e.Took += time.Duration(k.Seconds * float64(time.Second))
			if k.Measured.Before(e.First) {
				e.First = k.Measured
			}
			if k.Measured.After(e.Last) {
				e.Last = k.Measured
			}
			sums[k.Origin+k.Runtime] = e
		}
	}
	var all []Effort
	for _, id := range slices.Sorted(maps.Keys(sums)) {
		all = append(all, sums[id])
	}
	slices.SortStableFunc(all, func(a, b Effort) int {
		return cmp.Or(a.First.Compare(b.First), strings.Compare(a.Runtime, b.Runtime))
	})
	return all
}
