//go:build !linux

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// flush makes all files of a folder durable.
func flush(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Sync(), f.Close())
	})
}
