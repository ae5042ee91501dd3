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

// Lines reads text of at most so many bytes, whose lines have at most so many each.
func Lines(r io.Reader, most, line int64) io.Reader {
	return &lines{r: r, left: most, line: line, most: most}
}

type lines struct {
	r                      io.Reader
	most, left, line, long int64 // long: of the line so far
}

// Read reads, and fails at what is too much.
func (l *lines) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, l.most)
	}
	for _, c := range b[:n] {
		if l.long++; c == '\n' {
			l.long = 0
		}
		if l.long > l.line {
			return 0, fmt.Errorf("%w: a line has more than %d bytes", ErrTooLarge, l.line)
		}
	}
	return n, err
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
