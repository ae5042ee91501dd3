package agent

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	tailBytes = 8 << 10
	tailLines = 20
)

// tail keeps the last of what an agent writes to stderr: what it is fed, or
// what is in file.
type tail struct {
	copy io.Writer // also gets all that is fed; may be nil
	file *os.File  // when the agent writes to a file by itself

	mu   sync.Mutex
	last []byte
}

// Write is fed the agent's stderr. It never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = append(t.last, p...)
	if extra := len(t.last) - tailBytes; extra > 0 {
		t.last = append(t.last[:0], t.last[extra:]...)
	}
	if t.copy != nil {
		// A copy that fails must not break the pipe and so kill the agent.
		_, _ = t.copy.Write(p)
	}
	return len(p), nil
}

// lines returns the last whole lines, without the final line's end.
func (t *tail) lines() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		t.last = lastOf(t.file)
	}
	text := t.last
	if len(text) == tailBytes { // its first line is most likely cut
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	all := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-tailLines):], "\n")
}

// lastOf reads the end of a file, as far as it can: it is for an error's text,
// which must not be lost to another error.
func lastOf(f *os.File) []byte {
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	buf := make([]byte, min(info.Size(), tailBytes))
	n, _ := f.ReadAt(buf, info.Size()-int64(len(buf)))
	return buf[:n]
}

// close closes the file, if there is one. Closing twice is no error.
func (t *tail) close() error {
	if t.file == nil {
		return nil
	}
	if err := t.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
