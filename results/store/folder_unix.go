//go:build unix

package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openLock opens what is locked of a folder: the folder itself.
func openLock(dir string) (*os.File, error) { return os.Open(dir) }

// stands tells whether a folder still is the one whose lock was opened.
func stands(path string, file *os.File) bool {
	has, err := file.Stat()
	if err != nil {
		return false
	}
	is, err := os.Lstat(path)
	return err == nil && os.SameFile(has, is)
}

// syncDir makes the entries of a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("flushing folder %s: %w", dir, err)
	}
	return nil
}

// writable tells why nothing can be made in a folder.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
