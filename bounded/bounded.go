// Package bounded reads files whole that others may have written: no more of them than
// a limit, so that one that never ends, or is far larger than any of its kind, ends in
// an error and not with the memory.
package bounded

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrTooLarge is wrapped by the errors for what is larger than its limit.
var ErrTooLarge = errors.New("too large")

// ReadFile reads a file of at most so many bytes. Its errors name the file.
func ReadFile(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := ReadAll(f, most)
	if errors.Is(err, ErrTooLarge) {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return b, err
}

// ReadAll reads at most so many bytes.
func ReadAll(r io.Reader, most int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, most)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}
