package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aqmlab/lockfile"
	"aqmlab/results"
	"aqmlab/results/store"
)

// Save stores a sweep, unless the same one is there. It is there as a whole or not at
// all, also where another process does the same.
func (s Store) Save(w *Sweep) error {
	if err := s.save(w); err != nil {
		return fmt.Errorf("storing sweep %s: %w", w.Name, err)
	}
	return nil
}

func (s Store) save(w *Sweep) error {
	w.dir = s.sweepDir(w.Name)
	if _, err := s.Written(w.Name); err == nil {
		return nil
	}
	end, err := s.saving()
	if err != nil {
		return err
	}
	defer end()
	temp, err := os.MkdirTemp(s.sweepDir(""), unfinished+w.Name+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := w.write(temp); err != nil {
		return err
	}
	err = os.Rename(temp, w.dir)
	if errors.Is(err, fs.ErrExist) {
		return nil // by another process
	}
	return err
}

// saving has others know that this process is storing a sweep, until end is called or the
// process ends, however it ends. While nobody does, it first removes the folders that
// killed processes left.
func (s Store) saving() (end func(), err error) {
	if err := os.MkdirAll(s.sweepDir(""), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.Dir, ".saving"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	switch err = lockfile.Try(f, lockfile.Exclusive); {
	case err == nil:
		err = s.tidy()
	case errors.Is(err, lockfile.ErrHeld):
		err = nil
	}
	if err == nil { // others may hold it, too; who tidies up does for a moment
		err = lockfile.Wait(f, lockfile.Shared)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("locking %s: %w", f.Name(), err), f.Close())
	}
	return func() { f.Close() }, nil
}

// tidy removes the folders of sweeps that were not stored as a whole.
func (s Store) tidy() error {
	entries, err := os.ReadDir(s.sweepDir(""))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unfinished) {
			if err := os.RemoveAll(s.sweepDir(e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes a sweep's files into a folder.
func (w *Sweep) write(dir string) error {
	w.Schema, w.Created = results.Schema, time.Now().UTC()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(filepath.Join(dir, labsDir), 0o755)); err != nil {
		return err
	}
	w.LabSums = nil
	for i, l := range w.labs {
		text, err := l.YAML()
		if err != nil {
			return err
		}
		w.LabSums = append(w.LabSums, sumOf(text))
		if err := store.WriteFile(filepath.Join(dir, labFile(i)), text); err != nil {
			return err
		}
	}
	text, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", sweepFile, err)
	}
	return store.WriteFile(filepath.Join(dir, sweepFile), store.Seal(append(text, '\n')))
}
