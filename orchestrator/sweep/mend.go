package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"aqmlab/results/store"
)

// Whole tells whether a point is stored, with every file as it was written. One that is
// damaged becomes one that is not stored, so that it is measured again, and Warn is told.
func (s Store) Whole(key string) (bool, error) {
	if !s.Has(key) {
		return false, nil
	}
	damage := s.check(key)
	if damage == nil {
		return true, nil
	}
	if s.Warn != nil {
		s.Warn(fmt.Sprintf("a stored point is damaged, and is measured again: %v", damage))
	}
	// What is left is removed when the point is stored again.
	err := os.Remove(filepath.Join(s.Folder(key), figuresFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("%w: discarding a damaged point: %w", errStoring, err)
	}
	return false, nil
}

// check says what is damaged of a stored point.
func (s Store) check(key string) error {
	if _, err := s.Figures(key); err != nil {
		return err
	}
	run, err := s.Open(key)
	if err != nil {
		return err
	}
	return run.Points()[0].Check()
}

// Open opens a stored point, as the run that it is: with one point.
func (s Store) Open(key string) (*store.Run, error) {
	run, err := store.Open(s.Folder(key))
	if err != nil {
		return nil, err
	}
	for _, d := range run.Damaged() {
		return nil, fmt.Errorf("opening run %s: %w", run.Dir, d.Err)
	}
	if n := len(run.Points()); n != 1 {
		return nil, fmt.Errorf("opening run %s: it has %d points, and a stored one has 1", run.Dir, n)
	}
	return run, nil
}
