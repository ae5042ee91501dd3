package uml

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// folder is a temporary folder that says by a lock whether its owner is alive,
// so that the next one can remove what a killed one has left.
type folder struct {
	path string
	lock *os.File
}

// lockName is the file in a folder that its owner has locked.
const lockName = ".lock"

// newFolder makes a folder below parent, after removing those of the same name
// that nobody owns any more.
func newFolder(parent, name string) (*folder, error) {
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, err
	}
	if err := sweep(filepath.Join(parent, name+"-*")); err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp(parent, name+"-")
	if err != nil {
		return nil, err
	}
	// The lock appears when it is held: until then nobody takes the folder for
	// one without an owner.
	file := filepath.Join(path, lockName)
	lock, err := locked(file+".new", os.O_CREATE)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return &folder{path, lock}, nil
}

// locked opens a file and takes its lock, which another owner may have.
func locked(file string, flags int) (*os.File, error) {
	f, err := os.OpenFile(file, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(os.NewSyscallError("flock", err), f.Close())
	}
	return f, nil
}

// own tells whether a path is a folder of this user's, and no link to one. Anybody may
// make folders of our name in /tmp.
func own(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// sweep removes the folders of this user's that have a lock which nobody holds.
func sweep(pattern string) error {
	found, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	var errs []error
	for _, path := range found {
		if !own(path) {
			continue
		}
		f, err := locked(filepath.Join(path, lockName), 0)
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			continue // somebody's, or gone
		}
		if err == nil {
			err = (&folder{path, f}).remove()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("removing what a killed process left: %w", err))
		}
	}
	return errors.Join(errs...)
}

// remove removes the folder with all that is in it, its lock last: whoever is killed
// meanwhile leaves a folder that is known to be nobody's. Removing it twice is no error.
func (f *folder) remove() error {
	entries, err := os.ReadDir(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		if e.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(f.path, e.Name())))
		}
	}
	if err == nil {
		err = os.RemoveAll(f.path)
	}
	if cerr := f.lock.Close(); !errors.Is(cerr, os.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return err
}
