package results

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Entry is one line of a list of runs.
type Entry struct {
	Name   string    `json:"name"` // of the folder
	Dir    string    `json:"dir"`
	State  State     `json:"state"`
	Reason string    `json:"reason,omitempty"` // why the state is not complete
	Lab    string    `json:"lab"`
	Start  time.Time `json:"start,omitzero"`
	Points int       `json:"points"` // that are whole
}

// List lists the runs in root by the time of their start: also those that are
// growing, ended early, were killed or are damaged, each with its state and
// the reason. A root that does not exist holds no runs.
func List(root string) ([]Entry, error) {
	dirs, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	var entries []Entry
	for _, d := range dirs {
		if d.IsDir() {
			entries = append(entries, entryOf(filepath.Join(root, d.Name())))
		}
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return strings.Compare(strings.TrimPrefix(a.Name, unfinished), strings.TrimPrefix(b.Name, unfinished))
	})
	return entries, nil
}

func entryOf(dir string) Entry {
	e := Entry{Name: filepath.Base(dir), Dir: dir}
	run, err := Open(dir)
	if err != nil {
		e.State, e.Reason = Broken, err.Error()
		if growing(dir) {
			e.State, e.Reason = Running, ""
		}
		return e
	}
	m := run.Manifest
	e.State, e.Reason, e.Lab, e.Start, e.Points = m.State, m.Reason, m.Lab, m.Start, len(run.points)
	switch {
	case growing(dir):
		e.State = Running
	case strings.HasPrefix(e.Name, unfinished):
		e.State, e.Reason = Broken, "the process that made it ended before the run did"
	}
	return e
}

// growing tells whether a writer holds the folder.
func growing(dir string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	return errors.Is(unix.Flock(int(d.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
