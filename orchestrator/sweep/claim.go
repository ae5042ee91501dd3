package sweep

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"aqmlab/lockfile"
)

// errBusy says that another process is measuring a point.
var errBusy = errors.New("another process is measuring it")

// errStored says that a point is there.
var errStored = errors.New("it is stored")

// lockFile is locked by whoever measures a point.
func (s Store) lockFile(key string) string {
	return filepath.Join(filepath.Dir(s.Folder(key)), ".lock-"+key)
}

// claim makes this process the one that measures a point, until release is called or
// the process ends, however it ends.
func (s Store) claim(key string) (release func(), err error) {
	dir := filepath.Dir(s.Folder(key))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	path := s.lockFile(key)
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, err
		}
		if err := lockfile.Try(f, lockfile.Exclusive); err != nil {
			f.Close()
			if errors.Is(err, lockfile.ErrHeld) {
				return nil, errBusy
			}
			return nil, fmt.Errorf("locking %s: %w", path, err)
		}
		// Whoever had it may have removed the file between our two steps.
		if mine, there := identity(f.Stat()), identity(os.Stat(path)); mine == nil || !os.SameFile(mine, there) {
			f.Close()
			continue
		}
		release := func() {
			os.Remove(path)
			f.Close()
		}
		if s.Has(key) {
			release()
			return nil, errStored
		}
		return release, nil
	}
}

// identity is what tells files apart; nil where there is none.
func identity(info os.FileInfo, err error) os.FileInfo {
	if err != nil {
		return nil
	}
	return info
}

// Measuring tells whether a process is measuring a point, and since when. Who wants the
// lock at the very moment at which this looks tries again, as it does for that of another
// process.
func (s Store) Measuring(key string) (since time.Time, is bool) {
	f, err := os.Open(s.lockFile(key))
	if err != nil {
		return since, false
	}
	defer f.Close()
	if !errors.Is(lockfile.Try(f, lockfile.Shared), lockfile.ErrHeld) {
		return since, false // a killed process left it
	}
	info, err := f.Stat()
	if err != nil {
		return since, false
	}
	return info.ModTime(), true
}
