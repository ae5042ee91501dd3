package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Undoer removes things of one kind, given newest first. What is gone
// already, or was never made, is no error. It gets many at a time because the
// kernel removes a hundred namespaces together about as fast as one.
type Undoer func(entries []Entry) error

// Undoers says how each kind of thing is removed.
type Undoers map[Kind]Undoer

// Undo removes everything that was recorded, newest first, and at last the
// lab's folder. It goes on after a failure; then the folder stays, and a later
// Undo, Open or Sweep tries again. Undoing twice is no error.
func (j *Journal) Undo(undoers Undoers) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lock == nil {
		return nil
	}
	var errs []error
	for _, run := range runs(j.entries) {
		undo, ok := undoers[run[0].Kind]
		if !ok {
			errs = append(errs, fmt.Errorf("no way to remove a %s (%s)", run[0].Kind, run[0].Name))
			continue
		}
		errs = append(errs, undo(run))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("undo lab %s: %w", j.id, err)
	}
	// Under the root's lock, so that nobody opens a folder that is half gone.
	err := withRoot(j.root, func() error { return os.RemoveAll(j.Dir()) })
	if err != nil {
		return fmt.Errorf("undo lab %s: %w", j.id, err)
	}
	return j.close()
}

// runs splits entries, newest first, into stretches of one kind.
func runs(entries []Entry) [][]Entry {
	entries = slices.Clone(entries)
	slices.Reverse(entries)
	var out [][]Entry
	for len(entries) > 0 {
		n := slices.IndexFunc(entries, func(e Entry) bool { return e.Kind != entries[0].Kind })
		if n < 0 {
			n = len(entries)
		}
		out = append(out, entries[:n:n])
		entries = entries[n:]
	}
	return out
}

// RemoveFiles is the Undoer of File.
func RemoveFiles(entries []Entry) error {
	var errs []error
	for _, e := range entries {
		if err := os.Remove(e.Name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
