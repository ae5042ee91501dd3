package sweep

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aqmlab/bounded"
	"aqmlab/results"
	"aqmlab/results/store"
)

// Failure is a point that could not be measured.
type Failure struct {
	results.Coord
	Key    string    `json:"key"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
	Host   string    `json:"host"` // where it was tried
}

func (w *Sweep) failedFile(key string) string { return filepath.Join(w.dir, failedDir, key+".json") }

// thisHost is the name of this machine.
func thisHost() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
}

// NoteFailure stores why a point failed, and where it was tried: on this machine where
// host is empty.
func (w *Sweep) NoteFailure(u Unit, why error, host string) error {
	failure := Failure{u.Coord, u.Key, why.Error(), time.Now().UTC(), cmp.Or(host, thisHost())}
	text, err := json.MarshalIndent(failure, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Join(w.dir, failedDir), 0o755)
	}
	if err == nil {
		err = store.WriteFile(w.failedFile(u.Key), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("%w: noting that %v failed: %w", errStoring, u.Coord, err)
	}
	return nil
}

// Failure is what is known of a failed point; nil where nothing is.
func (w *Sweep) Failure(key string) (*Failure, error) {
	text, err := bounded.ReadFile(w.failedFile(key), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f Failure
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return nil, fmt.Errorf("reading how a point of sweep %s failed: %w", w.Name, err)
	}
	return &f, nil
}

// Failed says when points of a sweep failed, by their keys.
func (w *Sweep) Failed() (map[string]time.Time, error) {
	wrong := func(err error) error { return fmt.Errorf("listing the failures of sweep %s: %w", w.Name, err) }
	entries, err := os.ReadDir(filepath.Join(w.dir, failedDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, wrong(err)
	}
	failed := make(map[string]time.Time)
	for _, e := range entries {
		key, isJSON := strings.CutSuffix(e.Name(), ".json")
		if !isJSON || !isKey(key) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being tried again
		}
		if err != nil {
			return nil, wrong(err)
		}
		failed[key] = info.ModTime()
	}
	return failed, nil
}

// Failures lists the points that failed when they were last tried, and are not stored.
func (s Store) Failures(w *Sweep) (all []Failure, err error) {
	for _, p := range w.Measurements() {
		f, err := w.Failure(p.Key)
		if err != nil {
			return nil, err
		}
		if f != nil && !s.Has(p.Key) {
			all = append(all, *f)
		}
	}
	return all, nil
}

// forget removes what is known of failures, so that the points are tried again.
func (w *Sweep) forget() error {
	if err := os.RemoveAll(filepath.Join(w.dir, failedDir)); err != nil {
		return fmt.Errorf("forgetting the failures of sweep %s: %w", w.Name, err)
	}
	return nil
}
