package sweep

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"aqmlab/results/store"
)

// array is an array of jobs that was submitted for a sweep. Its record is written before
// it is submitted, so that whoever comes later knows of it, however we end.
type array struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`          // of the job in the queue
	Job       string    `json:"job,omitempty"` // number in the queue; empty until it is known
	Tasks     int       `json:"tasks"`
	Attempt   int       `json:"attempt"` // at its points, from 1
	Submitted time.Time `json:"submitted"`
	Cancelled bool      `json:"cancelled,omitempty"` // at the user's request
}

// jobsDir is where a sweep keeps, for each array, its record, its script and the logs of
// its jobs.
const jobsDir = "jobs"

// jobsFile is a file of an array.
func (w *Sweep) jobsFile(id, suffix string) string { return filepath.Join(w.dir, jobsDir, id+suffix) }

// Ends of the names of an array's files.
const (
	recordSuffix = ".json"
	scriptSuffix = ".sh"
)

// newArray is one for these chunks, under a name that no other job has.
func (w *Sweep) newArray(chunks [][]Point, attempt int) (*array, error) {
	b := make([]byte, 5)
	if _, err := rand.Read(b); err != nil {
		return nil, fmt.Errorf("drawing a name: %w", err)
	}
	id := hex.EncodeToString(b)
	a := &array{ID: id, Name: "aqmlab-" + w.Name + "-" + id, Tasks: len(chunks), Attempt: attempt, Submitted: time.Now().UTC()}
	if err := os.MkdirAll(filepath.Join(w.dir, jobsDir), 0o755); err != nil {
		return nil, err
	}
	if err := w.saveChunks(id, chunks); err != nil {
		return nil, err
	}
	return a, w.saveArray(a)
}

func (w *Sweep) saveArray(a *array) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err == nil {
		err = store.WriteFile(w.jobsFile(a.ID, recordSuffix), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("noting the jobs of sweep %s: %w", w.Name, err)
	}
	return nil
}

// removeArray forgets an array that was not submitted.
func (w *Sweep) removeArray(a *array) error {
	err := errors.Join(os.Remove(w.jobsFile(a.ID, recordSuffix)), os.Remove(w.chunkFile(a.ID)))
	if gone := os.Remove(w.jobsFile(a.ID, scriptSuffix)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// arrays lists those that were submitted, in their order.
func (w *Sweep) arrays() (all []*array, err error) {
	entries, err := os.ReadDir(filepath.Join(w.dir, jobsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the jobs of sweep %s: %w", w.Name, err)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), recordSuffix)
		if !ok {
			continue
		}
		a := new(array)
		text, err := os.ReadFile(w.jobsFile(id, recordSuffix))
		if err == nil {
			err = json.Unmarshal(text, a)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the jobs of sweep %s: %w", w.Name, err)
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *array) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// follow makes this process the one that submits and follows the jobs of a sweep, until
// release is called or the process ends, however it ends.
func (w *Sweep) follow() (release func() error, err error) {
	dir := filepath.Join(w.dir, jobsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".follower"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = errors.New("another process follows its jobs already")
		}
		return nil, fmt.Errorf("following sweep %s: %w", w.Name, err)
	}
	return f.Close, nil
}

// lastWords is the last line that a job wrote into its log.
func (w *Sweep) lastWords(a *array, task int) string {
	text, err := os.ReadFile(w.jobsFile(a.ID, fmt.Sprintf("-%d.log", task)))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
