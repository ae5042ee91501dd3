package agent

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	tailBytes = 8 << 10
	tailLines = 20
)

// tail keeps the last of what an agent writes to stderr: what comes out of a
// pipe, or what is in file. A pipe would break with its owner, and kill the
// agent: one that outlives its owner has a file.
type tail struct {
	copy io.Writer // also gets all that comes out of the pipe; may be nil
	file *os.File  // when the agent writes to a file by itself

	read, write *os.File      // the pipe
	drained     chan struct{} // closed when the pipe has ended

	mu   sync.Mutex
	last []byte
}

// open returns what the agent shall have as its stderr. Call opened once it has
// it.
func (t *tail) open() (*os.File, error) {
	if t.file != nil {
		return t.file, nil
	}
	var err error
	if t.read, t.write, err = os.Pipe(); err != nil {
		return nil, err
	}
	t.drained = make(chan struct{})
	go func() {
		defer close(t.drained)
		_, _ = io.Copy(t, t.read) // ends with the pipe, or drain
	}()
	return t.write, nil
}

// opened lets go of the agent's end of the pipe, whose end is the agent's from
// then on.
func (t *tail) opened() {
	if t.write != nil {
		t.write.Close()
	}
}

// drainWait is how long a child of the agent that keeps its stderr open may
// hold up its end.
const drainWait = time.Second

// drain waits until all that the agent has written is there. The agent has
// ended.
func (t *tail) drain() {
	if t.drained == nil {
		return
	}
	select {
	case <-t.drained:
	case <-time.After(drainWait):
	}
	t.read.Close()
	<-t.drained
}

// Write is fed from the pipe. It never fails.
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
