package cluster

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"aqmlab/orchestrator/sweep"
)

// programsDir is where a store keeps the programs that its jobs run, by their digests.
const programsDir = "bin"

// keepProgram copies this program into the store, unless it is there: whoever has the
// store has the program, and it makes the same keys. It returns the absolute path.
func keepProgram(dir string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program's file: %w", err)
	}
	sum, err := sweep.Digest(self)
	if err != nil {
		return "", err
	}
	path, err := filepath.Abs(filepath.Join(dir, programsDir, sum[:32]))
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if err := copyProgram(self, path); err != nil {
		return "", fmt.Errorf("copying this program into the store: %w", err)
	}
	return path, nil
}

// copyProgram makes a copy that is there as a whole or not at all.
func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), ".new-")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(0o755)
	}
	if err == nil {
		err = out.Sync()
	}
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(out.Name()))
	}
	return nil
}
