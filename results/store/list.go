package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"aqmlab/lockfile"
	"aqmlab/results"
)

// Entry is one line of a list of runs.
type Entry struct {
	Name    string        `json:"name"` // of the folder
	Dir     string        `json:"dir"`
	State   results.State `json:"state"`
	Reason  string        `json:"reason,omitempty"` // why the state is not complete
	Lab     string        `json:"lab"`
	Runtime string        `json:"runtime"`
	Start   time.Time     `json:"start,omitzero"`
	Points  int           `json:"points"` // that are whole
	Planned int           `json:"planned_points"`
}

// List lists the runs in root by the time of their start: also those that are
// growing, ended early, were killed or are damaged, each with its state and
// the reason. Folders that are no runs are left out. A root that does not exist
// holds no runs.
func List(root string) ([]Entry, error) {
	entries, err := entriesIn(root, looksLikeRun)
	if err != nil {
		return nil, fmt.Errorf("listing runs: %w", err)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return strings.Compare(strings.TrimPrefix(a.Name, unfinished), strings.TrimPrefix(b.Name, unfinished))
	})
	return entries, nil
}

// Growing lists the runs in root that are being made, by the time of their
// start. A root that does not exist holds none.
func Growing(root string) ([]Entry, error) {
	entries, err := entriesIn(root, func(dir string) bool {
		return strings.HasPrefix(filepath.Base(dir), unfinished) && growing(dir)
	})
	if err != nil {
		return nil, fmt.Errorf("listing the runs that are being made: %w", err)
	}
	return entries, nil
}

// entriesIn are those of the folders in root that are listed.
func entriesIn(root string, listed func(dir string) bool) (entries []Entry, err error) {
	dirs, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, d := range dirs {
		if dir := filepath.Join(root, d.Name()); d.IsDir() && listed(dir) {
			entries = append(entries, EntryOf(dir))
		}
	}
	return entries, nil
}

// looksLikeRun tells whether a folder has the name of a run, or was one before
// it got another name.
func looksLikeRun(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, manifestFile)); err == nil {
		return true
	}
	return runName(filepath.Base(dir)) && (!neverBegan(dir) || growing(dir))
}

// runName tells whether a name is one that [Create] gives: see folderName.
func runName(name string) bool {
	return regexp.MustCompile(`^(\.partial-)?\d{8}T\d{6}Z-[A-Za-z0-9][A-Za-z0-9._+#-]*-[0-9a-f]{8}(-\d+)?$`).MatchString(name)
}

// EntryOf is what [List] says of one folder.
func EntryOf(dir string) Entry {
	e := Entry{Name: filepath.Base(dir), Dir: dir}
	run, err := Open(dir)
	switch {
	case growing(dir):
		e.State = results.Running
	case err != nil:
		e.State, e.Reason = results.Broken, err.Error()
	}
	if err != nil {
		return e
	}
	m := run.Manifest
	e.Lab, e.Runtime, e.Start = m.Lab, m.Runtime, m.Start
	e.Points, e.Planned = len(run.points), len(m.Schemes)*len(m.Loads)*len(m.Seeds)
	if e.State == results.Running {
		return e
	}
	if e.State, e.Reason = m.State, m.Reason; m.State == results.Running || strings.HasPrefix(e.Name, unfinished) {
		e.State, e.Reason = results.Interrupted, "the process that made it ended before the run did"
	}
	if err := run.check(); err != nil {
		e.State, e.Reason = results.Broken, err.Error()
	}
	return e
}

// check looks for damage that Open does not see, without reading the records. It
// counts rows by the ends of the files, which are what a file that was cut short
// lacks.
func (r *Run) check() error {
	for _, d := range r.damaged {
		return d.Err
	}
	for _, p := range r.points {
		err := cmp.Or(checkRows(p.dir, flowsFile, p.Flows), checkRows(p.dir, seriesFile, p.Samples))
		if err != nil {
			return err
		}
	}
	return nil
}

// growing tells whether a writer holds the folder.
func growing(dir string) bool {
	d, err := openLock(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	return errors.Is(lockfile.Try(d, lockfile.Shared), lockfile.ErrHeld)
}

// Find is the folder of the run that the user means: a path, or the name of a
// folder below root, of which the "latest" is one. A run that was killed may be
// named without the prefix that its folder still has. The error for an unknown
// one lists the newest of those that there are.
func Find(root, ref string) (dir string, err error) {
	places := []string{ref, filepath.Join(root, ref), filepath.Join(root, unfinished+ref)}
	if name, err := namedLatest(root); err == nil && ref == latestLink { // it need not be a folder
		places = append(places, filepath.Join(root, name))
	}
	for _, dir := range places {
		if info, err := os.Stat(dir); ref != "" && err == nil && info.IsDir() {
			return behindLatest(filepath.Clean(dir)), nil
		}
	}
	entries, err := List(root)
	if err != nil {
		return "", err
	}
	if len(entries) == 0 {
		return "", fmt.Errorf("no run %q: there are no runs in %s", ref, root)
	}
	slices.Reverse(entries)
	var newest []string
	for _, e := range entries[:min(3, len(entries))] {
		newest = append(newest, e.Name)
	}
	return "", fmt.Errorf("no run %q: want a folder, or the name of one in %s; the newest are %s", ref, root, strings.Join(newest, ", "))
}

// behindLatest is the run that "latest" names: a run is known by its own name.
func behindLatest(dir string) string {
	if filepath.Base(dir) != latestLink {
		return dir
	}
	to, err := namedLatest(filepath.Dir(dir))
	if err != nil {
		return dir
	}
	return filepath.Join(filepath.Dir(dir), to)
}
