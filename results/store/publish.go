package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/results"
)

// liveFile is where a run that is being made has its Live.
const liveFile = "progress.json"

// Publish shows readers of the run's folder how far the run is. Unlike the
// Writer's other methods it may be called while another one is at work, other
// than Finish and Abort. A crash may lose what it wrote, so it costs no flush.
func (w *Writer) Publish(l results.Live) error {
	b, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	path := filepath.Join(w.Dir(), liveFile)
	if err := os.WriteFile(path+".new", b, 0o644); err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("publishing progress: %w", err)
	}
	return nil
}

// ReadLive reads how far a run is that is being made in a folder. The error
// wraps [fs.ErrNotExist] when it has not published that yet, or is over.
func ReadLive(dir string) (results.Live, error) {
	var l results.Live
	if err := readJSON(filepath.Join(dir, liveFile), &l); err != nil {
		return results.Live{}, fmt.Errorf("reading the progress of a run: %w", err)
	}
	return l, nil
}

// Growing lists the runs in root that are being made, by the time of their
// start. A root that does not exist holds none.
func Growing(root string) ([]Entry, error) {
	dirs, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the runs that are being made: %w", err)
	}
	var entries []Entry
	for _, d := range dirs {
		if dir := filepath.Join(root, d.Name()); d.IsDir() && strings.HasPrefix(d.Name(), unfinished) && growing(dir) {
			entries = append(entries, EntryOf(dir))
		}
	}
	return entries, nil
}
