package reproduce

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"aqmlab/results"
)

// record is what is kept of an experiment for good: every figure that its claims
// are judged by, the points that these are from, and what measured them. It says
// as much as the card needs, so that runs, which are a thousand times its size,
// need not be kept.
type record struct {
	Paper      string            `json:"paper"`
	Experiment string            `json:"experiment"`
	Origins    map[string]origin `json:"origins"` // by their hash
	Figures    []kept            `json:"figures"`
	Points     []keptPoint       `json:"points"`
}

// origin is what measured.
type origin struct {
	Version  string          `json:"aqmlab_version"`
	Revision string          `json:"git_revision"`
	Command  string          `json:"command"`
	Machine  results.Machine `json:"machine"`
}

func (o origin) hash() string { return hash(o) }

// kept is the figure of a claim for one scheme at one load, or why there is none.
type kept struct {
	Claim       string    `json:"claim"`
	Runtime     string    `json:"runtime"`
	Scheme      string    `json:"scheme"`
	Load        float64   `json:"load"`
	Scale       Scale     `json:"scale"`
	Flows       int       `json:"flows"` // a point
	Seeds       int       `json:"seeds"`
	Value       exact     `json:"value"`
	CI95        []exact   `json:"ci95,omitempty"`
	From        exact     `json:"baseline_value"`
	To          exact     `json:"scheme_value"`
	LowFidelity bool      `json:"low_fidelity,omitempty"`
	Nothing     string    `json:"nothing,omitempty"` // why there is no figure
	Of          string    `json:"of"`                // hash of the labs, and of what the figure is taken of
	Measured    time.Time `json:"measured"`          // when the last of its points began
	Origin      string    `json:"origin"`
}

// keptPoint sums up a point.
type keptPoint struct {
	Lab     string `json:"lab"`
	Runtime string `json:"runtime"`
	results.Coord
	Flows     int                  `json:"flows"`
	Completed int                  `json:"completed"`
	Marks     int64                `json:"marks"`
	Drops     int64                `json:"drops"`
	Timeouts  int64                `json:"timeouts"`
	FCT       map[string][]float64 `json:"fct_us"` // mean and 99th percentile, by class
	Seconds   float64              `json:"seconds"`
	Of        string               `json:"of"` // hash of the lab
	Measured  time.Time            `json:"measured"`
	Origin    string               `json:"origin"`
}

// same tells whether two figures are of the same claim, scheme, load and runtime.
func (k kept) same(o kept) bool {
	return k.Claim == o.Claim && k.Runtime == o.Runtime && k.Scheme == o.Scheme && k.Load == o.Load
}

func (k keptPoint) same(o keptPoint) bool {
	return k.Lab == o.Lab && k.Runtime == o.Runtime && k.Coord == o.Coord
}

// figure is what the card shows.
func (k kept) figure() Figure {
	f := Figure{
		Value: float64(k.Value), From: float64(k.From), To: float64(k.To), HasCI: len(k.CI95) == 2,
		Scheme: k.Scheme, Load: k.Load, Flows: k.Flows, Seeds: k.Seeds, LowFidelity: k.LowFidelity,
	}
	if f.HasCI {
		f.CI95 = [2]float64{float64(k.CI95[0]), float64(k.CI95[1])}
	}
	return f
}

// exact is a number that JSON may have no word for: then a string has it.
type exact float64

// MarshalJSON writes a number, or "+Inf", "-Inf" or "NaN".
func (e exact) MarshalJSON() ([]byte, error) {
	if b, err := json.Marshal(float64(e)); err == nil {
		return b, nil
	}
	return json.Marshal(fmt.Sprint(float64(e)))
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *exact) UnmarshalJSON(b []byte) error {
	if _, err := fmt.Sscan(string(bytes.Trim(b, `"`)), (*float64)(e)); err != nil {
		return fmt.Errorf("%s is no number: %w", b, err)
	}
	return nil
}

// recordFile is where the record of an experiment is kept.
func recordFile(root, paper, experiment string) string {
	return filepath.Join(root, paper, experiment+".json")
}

// load reads a record. One that is not there is empty.
func load(root, paper, experiment string) (*record, error) {
	r := &record{Paper: paper, Experiment: experiment, Origins: make(map[string]origin)}
	file := recordFile(root, paper, experiment)
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of %s: %w", experiment, err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return r, nil
}

// save writes the record whole or not at all, if it holds anything.
func (r *record) save(root string) error {
	if len(r.Figures) == 0 {
		return nil
	}
	r.tidy()
	return write(recordFile(root, r.Paper, r.Experiment), r.text())
}

// write replaces a file in one step.
func write(file string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("writing the card: %w", err)
	}
	if err := os.WriteFile(file+".new", b, 0o644); err != nil {
		return fmt.Errorf("writing the card: %w", err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("writing the card: %w", err)
	}
	return nil
}

// text is the record as JSON, a line for every figure and point, so that a
// change shows which of them changed.
func (r *record) text() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"paper\": %q, \"experiment\": %q,\n\"origins\": {", r.Paper, r.Experiment)
	ids := slices.Sorted(maps.Keys(r.Origins))
	lines(&b, len(ids), func(i int) string { return fmt.Sprintf("%q: %s", ids[i], compact(r.Origins[ids[i]])) })
	b.WriteString("},\n\"figures\": [")
	lines(&b, len(r.Figures), func(i int) string { return compact(r.Figures[i]) })
	b.WriteString("],\n\"points\": [")
	lines(&b, len(r.Points), func(i int) string { return compact(r.Points[i]) })
	b.WriteString("]}\n")
	return b.Bytes()
}

func lines(b *bytes.Buffer, n int, line func(int) string) {
	for i := range n {
		b.WriteString("\n  " + line(i))
		if i < n-1 {
			b.WriteByte(',')
		}
	}
}

// compact is a value as JSON on one line. All that records hold can be written.
func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("a record that cannot be written: %v", err))
	}
	return string(b)
}
