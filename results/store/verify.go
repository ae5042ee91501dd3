package store

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"aqmlab/bounded"
)

// Flaw is something that a run has not as it was written. Why names the file.
type Flaw struct {
	Point string `json:"point,omitempty"` // folder of the point; empty: the run's own files
	Why   string `json:"why"`
}

// Health is what [Verify] found out about a run.
type Health struct {
	Dir       string `json:"dir"`
	Points    int    `json:"points"`            // that are whole
	Unchecked int    `json:"without_checksums"` // those of them that an older version stored, without checksums
	Flaws     []Flaw `json:"flaws"`
}

// Verify reads all files of a run, and compares them with their checksums.
func Verify(dir string) Health {
	h := Health{Dir: dir, Flaws: []Flaw{}}
	r, err := Open(dir)
	if err != nil {
		h.Flaws = append(h.Flaws, Flaw{Why: err.Error()})
		return h
	}
	sums := r.Manifest.Files
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		if err := checkFile(filepath.Join(dir, name), sums[name]); err != nil {
			h.Flaws = append(h.Flaws, Flaw{Why: err.Error()})
		}
	}
	r = r.Sound(Point.verify)
	for _, d := range r.Damaged() {
		h.Flaws = append(h.Flaws, Flaw{d.Folder, d.Err.Error()})
	}
	for _, p := range r.points {
		h.Points++
		if p.sums == nil {
			h.Unchecked++
		}
	}
	return h
}

// checkFile compares a file with its checksum.
func checkFile(path, sum string) error {
	b, err := bounded.ReadFile(path, maxJSON)
	if err == nil && hashOf(b) != sum {
		err = ErrChanged
	}
	if err != nil {
		return damaged(path, err)
	}
	return nil
}

// verify compares all files with their checksums, and reads them.
func (s Point) verify() error {
	names, err := s.files()
	if err != nil {
		return fmt.Errorf("reading point %s: %w", s.Folder(), err)
	}
	for _, name := range names {
		file, err := s.open(name)
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return err
		}
	}
	_, err = s.Read()
	return err
}
