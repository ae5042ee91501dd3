// Package sweep measures one lab at many settings. A sweep is a list of points, each
// known by a hash of all that its result depends on. Points lie in a store, one folder
// each, which sweeps share: a point that is there is never measured again. An engine
// measures those that are not: on this machine, or on a cluster.
package sweep

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"aqmlab/bounded"
	"aqmlab/labs"
	"aqmlab/orchestrator"
	"aqmlab/results"
	"aqmlab/results/response"
	"aqmlab/results/store"
	"aqmlab/switch/port"
)

// Sweep is the points of one lab at many settings.
type Sweep struct {
	Schema  int                  `json:"schema,omitempty"` // [results.Schema] of the version that stored it
	Name    string               `json:"name"`
	Lab     string               `json:"lab"` // as it was named
	Runtime orchestrator.Runtime `json:"runtime"`
	Created time.Time            `json:"created"`
	Points  []Point              `json:"points"`

	Axes []response.Axis `json:"axes"` // keys of the lab that have several values

	LabSums []string `json:"labs_sha256,omitempty"` // checksums of the files of the resolved labs

	mu    sync.Mutex
	labs  []*labs.Lab // as resolved; read on demand where the sweep was opened
	kinds port.Kinds
	dir   string // where it is stored
}

// Point is one point of a sweep. Several have one key where a setting does not concern
// their scheme: they are one measurement.
type Point struct {
	results.Coord
	Values []string `json:"values"` // of the axes
	Lab    int      `json:"lab"`    // number of the resolved lab
	Key    string   `json:"key"`
}

// name is made of the lab and of what is measured: the same sweep has the same name.
func (w *Sweep) name() {
	sum := sha256.New()
	for _, p := range w.Points {
		fmt.Fprintln(sum, p.Key, p.Values)
	}
	w.Name = fmt.Sprintf("%s-%s", w.labs[0].Name, hex.EncodeToString(sum.Sum(nil)[:4]))
}

// Measurements are the points, one a key: the first that has it.
func (w *Sweep) Measurements() (points []Point) {
	seen := make(map[string]bool)
	for _, p := range w.Points {
		if !seen[p.Key] {
			seen[p.Key] = true
			points = append(points, p)
		}
	}
	return points
}

// Folder is where the sweep is stored; empty where it is not.
func (w *Sweep) Folder() string { return w.dir }

// lab is the lab of a point.
func (w *Sweep) lab(number int) (*labs.Lab, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if number < len(w.labs) && w.labs[number] != nil {
		return w.labs[number], nil
	}
	file := filepath.Join(w.dir, labFile(number))
	text, err := bounded.ReadFile(file, maxFile)
	if err == nil && number < len(w.LabSums) && sumOf(text) != w.LabSums[number] {
		err = fmt.Errorf("%s: %w, in %s", file, store.ErrChanged, sweepFile)
	}
	if err != nil {
		return nil, fmt.Errorf("reading a lab of sweep %s: %w", w.Name, err)
	}
	l, err := labs.ParseOf(w.kinds, file, text)
	if err != nil {
		return nil, fmt.Errorf("reading a lab of sweep %s: %w", w.Name, err)
	}
	for len(w.labs) <= number {
		w.labs = append(w.labs, nil)
	}
	w.labs[number] = l
	return l, nil
}

// Names of what a sweep's folder has.
const (
	sweepFile = "sweep.json"
	labsDir   = "labs"
)

// labFile is the resolved lab of that number.
func labFile(number int) string { return filepath.Join(labsDir, strconv.Itoa(number)+".yaml") }

// sumOf is the checksum of a file.
func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ErrNoSweep says that a store has no sweep of a name.
var ErrNoSweep = errors.New("no such sweep")

// open reads a sweep.
func open(dir string, kinds port.Kinds) (*Sweep, error) {
	path := filepath.Join(dir, sweepFile)
	text, err := bounded.ReadFile(path, maxFile)
	if err == nil {
		text, err = store.Unseal(path, text)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s", ErrNoSweep, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a sweep: %w", err)
	}
	w := &Sweep{dir: dir, kinds: kinds}
	err = json.Unmarshal(text, w)
	if newer := results.CheckSchema(w.Schema); newer != nil { // it explains the other, if any
		return nil, fmt.Errorf("opening a sweep: reading %s: %w", path, newer)
	}
	if err != nil {
		return nil, fmt.Errorf("opening a sweep: reading %s: %w", filepath.Join(dir, sweepFile), err)
	}
	bad := func(p Point) bool { return len(p.Values) != len(w.Axes) || !isKey(p.Key) || p.Lab < 0 }
	if slices.ContainsFunc(w.Points, bad) {
		return nil, fmt.Errorf("opening a sweep: %s has a point that is none", filepath.Join(dir, sweepFile))
	}
	return w, nil
}
