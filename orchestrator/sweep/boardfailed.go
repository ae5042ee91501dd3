package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// readFailed reads which points failed, and those reasons that are new: a point that is
// tried again may fail for another.
func (f *followed) readFailed() error {
	wrong := func(err error) error { return fmt.Errorf("listing the failures of sweep %s: %w", f.name, err) }
	dir := filepath.Join(f.sweep.dir, failedDir)
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return wrong(err)
	}
	now := make(map[string]reason)
	for _, e := range entries {
		key, isJSON := strings.CutSuffix(e.Name(), ".json")
		if !isJSON || !isKey(key) {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // it is being tried again
		}
		if err != nil {
			return wrong(err)
		}
		r, known := f.failed[key]
		if !known || !r.written.Equal(info.ModTime()) {
			r = reason{f.reason(key), info.ModTime()}
		}
		now[key] = r
	}
	f.failed = now
	return nil
}

// reason reads why a point failed. That it did is known without.
func (f *followed) reason(key string) string {
	failure, err := f.sweep.failure(key)
	switch {
	case err != nil:
		return err.Error()
	case failure == nil: // it is being tried again
		return ""
	}
	return failure.Reason
}
