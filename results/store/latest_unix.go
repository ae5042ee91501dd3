//go:build unix

package store

import (
	"os"
	"path/filepath"
)

// pointLatest makes root/latest name the run, in one step.
func pointLatest(root, name string) error {
	link := filepath.Join(root, latestLink)
	temp := filepath.Join(root, unfinished+latestLink+"-"+name) // runs may end at once
	if err := os.Remove(temp); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.Symlink(name, temp); err != nil {
		return err
	}
	return rename(temp, link)
}

// namedLatest is the name of the run that root/latest names.
func namedLatest(root string) (name string, err error) {
	return os.Readlink(filepath.Join(root, latestLink))
}
