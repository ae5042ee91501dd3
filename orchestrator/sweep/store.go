package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"aqmlab/bounded"
	"aqmlab/results"
	"aqmlab/results/coexist"
	"aqmlab/results/store"
	"aqmlab/switch/port"
)

// Store is a folder with points, each by its key, and with the sweeps that asked for
// them. It can be shared, copied, and merged with another by copying one into it.
type Store struct {
	Dir   string
	Kinds port.Kinds // that the labs of its sweeps may name

	Warn func(text string) // is told of damaged points that are measured again; may be nil
}

// Names of what a store has.
const (
	pointsDir   = "points"
	sweepsDir   = "sweeps"
	failedDir   = "failed" // of a sweep
	figuresFile = "figures.json"
	unfinished  = ".partial-" // of a sweep that is being written
)

// maxFile is more than the largest file of a store that is read whole.
const maxFile = 1 << 30

// isKey tells whether a text can be a key.
func isKey(text string) bool { return regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(text) }

// Folder is where the point of a key is, or would be: that of an ordinary run. The first
// digits part the points, as folders with many thousands of entries are slow.
func (s Store) Folder(key string) string { return filepath.Join(s.Dir, pointsDir, key[:2], key) }

// Has tells whether a point is there.
func (s Store) Has(key string) bool { return !s.Stored(key).IsZero() }

// Stored is when a point was stored; zero where it is not there.
func (s Store) Stored(key string) (at time.Time) {
	if info, err := os.Stat(filepath.Join(s.Folder(key), figuresFile)); err == nil {
		at = info.ModTime()
	}
	return at
}

// Figures are what metrics say of a stored point.
func (s Store) Figures(key string) (figures results.Measured, err error) {
	path := filepath.Join(s.Folder(key), figuresFile)
	text, err := bounded.ReadFile(path, maxFile)
	if err == nil {
		text, err = store.Unseal(path, text)
	}
	if err != nil {
		return figures, err
	}
	if err := json.Unmarshal(text, &figures); err != nil {
		return figures, fmt.Errorf("reading %s: %w", path, err)
	}
	return figures, nil
}

func (s Store) sweepDir(name string) string { return filepath.Join(s.Dir, sweepsDir, name) }

// Sweep opens a sweep by its name. The error for one that is not there wraps
// [ErrNoSweep].
func (s Store) Sweep(name string) (*Sweep, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("%w: %s", ErrNoSweep, name)
	}
	return open(s.sweepDir(name), s.Kinds)
}

// Written is when a sweep was stored.
func (s Store) Written(name string) (time.Time, error) {
	info, err := os.Stat(filepath.Join(s.sweepDir(name), sweepFile))
	if err != nil {
		return time.Time{}, err
	}
	return info.ModTime(), nil
}

// Sweeps lists the names of the sweeps, the latest last.
func (s Store) Sweeps() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(s.Dir, sweepsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing sweeps: %w", err)
	}
	made := make(map[string]time.Time)
	var names []string
	for _, e := range entries {
		if at, err := s.Written(e.Name()); err == nil && !strings.HasPrefix(e.Name(), unfinished) {
			made[e.Name()] = at
			names = append(names, e.Name())
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return made[a].Compare(made[b]) })
	return names, nil
}

// Remove removes a point.
func (s Store) Remove(key string) error { return os.RemoveAll(s.Folder(key)) }

// measure is what metrics say of a point, with how parties share the network where the lab
// tells them apart by transport, or asks for delays.
func measure(m results.Manifest, p results.Point) results.Measured {
	all := results.Measure(p)
	if len(m.Transports) > 0 || len(p.Delays) > 0 {
		for _, v := range coexist.Judge(m, p, coexist.Usual()).Values {
			all.Share(v.Metric(), v.Value)
		}
	}
	return all
}

// Put stores a measured point. It is there as a whole or not at all.
func (s Store) Put(key string, m results.Manifest, labYAML []byte, p results.Point) error {
	folder := s.Folder(key)
	if err := s.Remove(key); err != nil { // one that is not whole
		return err
	}
	describe := func(*store.Run) (map[string][]byte, error) {
		text, err := json.MarshalIndent(measure(m, p), "", "  ")
		return map[string][]byte{figuresFile: store.Seal(append(text, '\n'))}, err
	}
	w, err := store.CreateAs(filepath.Dir(folder), filepath.Base(folder), m, labYAML, describe)
	if err != nil {
		return err
	}
	err = w.Add(p)
	if err == nil {
		_, err = w.Finish(time.Now())
	}
	if err != nil {
		return errors.Join(err, w.Discard())
	}
	return nil
}
