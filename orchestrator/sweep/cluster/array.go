package cluster

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

	"aqmlab/orchestrator/sweep"
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

// newArray is one for these chunks, under a name that no other job has.
func (r records) newArray(chunks [][]sweep.Unit, attempt int) (*array, error) {
	b := make([]byte, 5)
	if _, err := rand.Read(b); err != nil {
		return nil, fmt.Errorf("drawing a name: %w", err)
	}
	id := hex.EncodeToString(b)
	a := &array{ID: id, Name: jobName(r.Sweep) + "-" + id, Tasks: len(chunks), Attempt: attempt, Submitted: time.Now().UTC()}
	if err := os.MkdirAll(filepath.Join(r.Folder(), jobsDir), 0o755); err != nil {
		return nil, err
	}
	if err := r.saveChunks(id, chunks); err != nil {
		return nil, err
	}
	return a, r.save(a)
}

func (r records) save(a *array) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err == nil {
		err = store.WriteFile(r.file(a.ID, recordSuffix), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("noting the jobs of sweep %s: %w", r.Name, err)
	}
	return nil
}

// remove forgets an array that was not submitted.
func (r records) remove(a *array) error {
	err := errors.Join(os.Remove(r.file(a.ID, recordSuffix)), os.Remove(r.chunkFile(a.ID)))
	if gone := os.Remove(r.file(a.ID, scriptSuffix)); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// all lists those that were submitted, in their order.
func (r records) all() (arrays []*array, err error) {
	entries, err := os.ReadDir(filepath.Join(r.Folder(), jobsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the jobs of sweep %s: %w", r.Name, err)
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), recordSuffix)
		if !ok {
			continue
		}
		a := new(array)
		err := readJSON(r.file(id, recordSuffix), a)
		if err == nil && a.ID != id {
			err = fmt.Errorf("%s: it is of array %q", r.file(id, recordSuffix), a.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("reading the jobs of sweep %s: %w", r.Name, err)
		}
		arrays = append(arrays, a)
	}
	slices.SortFunc(arrays, func(a, b *array) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	return arrays, nil
}
