package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/lockfile"
)

// Tidy removes from a folder of runs what processes left that were killed before their
// runs had begun. It goes by the lock that the process of every run holds. What cannot be
// removed stays for the next: that keeps nobody from anything.
func Tidy(root string) {
	dirs, err := os.ReadDir(root)
	if err != nil {
		return
	}
	for _, d := range dirs {
		if dir := filepath.Join(root, d.Name()); d.IsDir() && neverBegan(dir) {
			_ = removeBegun(dir)
		}
	}
}

// removeBegun removes a folder of a run that never began, unless a writer holds it.
func removeBegun(dir string) error {
	lock, err := holdForRemoval(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	if !neverBegan(dir) { // it has by now
		return nil
	}
	return removeFiles(dir)
}

// neverBegan tells whether a folder has but the name of an unfinished run: whoever made it
// was killed before there was a manifest, let alone a point.
func neverBegan(dir string) bool {
	name := filepath.Base(dir)
	if !strings.HasPrefix(name, unfinished) || !runName(name) {
		return false
	}
	if _, err := os.Lstat(filepath.Join(dir, manifestFile)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	points, err := filepath.Glob(filepath.Join(dir, "*", pointFile))
	return err == nil && len(points) == 0
}

// errLost is the error for a folder that another process has, or has removed.
var errLost = errors.New("another process has it")

// lockDir locks a folder without waiting, as its writer or as one who removes it, until
// the file is closed. Who gets the lock of a folder that was removed meanwhile has
// nothing. Both errors are errLost.
func lockDir(dir string) (lock *os.File, err error) {
	if lock, err = openLock(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errLost
		}
		return nil, err
	}
	err = lockfile.Try(lock, lockfile.Exclusive)
	if errors.Is(err, lockfile.ErrHeld) || err == nil && !stands(dir, lock) {
		err = errLost
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}
