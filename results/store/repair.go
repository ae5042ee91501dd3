package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aqmlab/results"
)

// Repair drops what is damaged of a run: its points, and the files for readers, which d
// makes anew. It returns the folders of the points that it dropped; going on with the run
// measures them again. The rest stays as it is. Wherever it is cut short, the run is
// what it was, or repaired, or can be repaired again.
//
// A run whose manifest or lab is damaged cannot be repaired: nothing else knows how its
// points were measured.
func Repair(dir string, d Describer) (dropped []string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("repairing run %s: %w", dir, err)
		}
	}()
	w := &Writer{root: filepath.Dir(dir), name: filepath.Base(dir), dir: dir, describer: d}
	if err := w.lockFolder(); err != nil {
		return nil, err
	}
	defer w.lock.Close()
	r, err := Open(dir)
	if err != nil {
		return nil, fmt.Errorf("%w; nothing else knows how its points were measured: put back a copy of the file, or run the lab anew", err)
	}
	r = r.Sound(Point.verify)
	for _, lost := range r.damaged {
		dropped = append(dropped, lost.Folder)
	}
	if err := w.rewrite(r, dropped); err != nil {
		return nil, err
	}
	return dropped, nil
}

// rewrite writes the manifest of what is left, removes the rest, and describes the run.
func (w *Writer) rewrite(r *Run, dropped []string) error {
	made := r.Manifest.Files
	w.manifest = r.Manifest
	w.manifest.Points, w.manifest.Files = r.infos(), nil
	if len(dropped) > 0 {
		w.manifest.State = results.Partial
		w.manifest.Reason = "damaged points were dropped: " + strings.Join(dropped, ", ")
	}
	if w.manifest.Points == nil {
		w.manifest.Points = []results.PointInfo{}
	}
	if err := w.writeManifest(); err != nil {
		return err
	}
	for _, folder := range dropped {
		if err := w.drop(folder); err != nil {
			return err
		}
	}
	for name := range made {
		if err := os.Remove(filepath.Join(w.dir, name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	if len(r.points) == 0 || !slices.Contains([]results.State{results.Complete, results.Partial}, w.manifest.State) {
		return nil
	}
	return w.describe()
}

// drop removes a point, by a name under which it is none at first.
func (w *Writer) drop(folder string) error {
	from, to := filepath.Join(w.dir, folder), filepath.Join(w.dir, unfinished+folder)
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if err := rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) { // it may be what is missing
		return err
	}
	return os.RemoveAll(to)
}
