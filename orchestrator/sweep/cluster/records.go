package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aqmlab/bounded"
	"aqmlab/lockfile"
	"aqmlab/orchestrator/sweep"
	"aqmlab/results/store"
)

// records is what the folder of a sweep has of its jobs.
type records struct{ *sweep.Sweep }

// jobsDir is where a sweep keeps, for each array, its record, its script and the logs of
// its jobs.
const jobsDir = "jobs"

// Ends of the names of an array's files.
const (
	recordSuffix = ".json"
	scriptSuffix = ".sh"
)

// file is a file of an array.
func (r records) file(id, suffix string) string {
	return filepath.Join(r.Folder(), jobsDir, id+suffix)
}

// jobName is what the names of a sweep's jobs begin with.
func jobName(w *sweep.Sweep) string { return "aqmlab-" + w.Name }

// chunksDir is where a sweep keeps what the jobs of a cluster are to measure: a file for
// each array of jobs.
const chunksDir = "chunks"

func (r records) chunkFile(array string) string {
	return filepath.Join(r.Folder(), chunksDir, array+".json")
}

// saveChunks stores what the jobs of an array are to measure: a list of keys for each.
func (r records) saveChunks(array string, chunks [][]sweep.Unit) error {
	keys := make([][]string, len(chunks))
	for i, units := range chunks {
		for _, u := range units {
			keys[i] = append(keys[i], u.Key)
		}
	}
	text, err := json.Marshal(keys)
	if err == nil {
		err = os.MkdirAll(filepath.Join(r.Folder(), chunksDir), 0o755)
	}
	if err == nil {
		err = store.WriteFile(r.chunkFile(array), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("storing the chunks of array %s: %w", array, err)
	}
	return nil
}

// chunks reads what the jobs of an array are to measure.
func (r records) chunks(array string) (keys [][]string, err error) {
	if err := readJSON(r.chunkFile(array), &keys); err != nil {
		return nil, fmt.Errorf("reading the chunks of array %s: %w", array, err)
	}
	return keys, nil
}

// maxFile is far more than what is noted of the jobs of any sweep.
const maxFile = 64 << 20

// readJSON reads a file of a sweep, which other machines may have written. Its errors name
// the file.
func readJSON(path string, v any) error {
	text, err := bounded.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// follow makes this process the one that submits and follows the jobs of a sweep, until
// release is called or the process ends, however it ends.
func (r records) follow() (release func() error, err error) {
	dir := filepath.Join(r.Folder(), jobsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".follower"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockfile.Try(f, lockfile.Exclusive); err != nil {
		f.Close()
		if errors.Is(err, lockfile.ErrHeld) {
			err = errors.New("another process follows its jobs already")
		}
		return nil, fmt.Errorf("following sweep %s: %w", r.Name, err)
	}
	return f.Close, nil
}

// maxWords is the most of the end of a log that is looked at.
const maxWords = 64 << 10

// lastWords is the last line that a job wrote into its log.
func (r records) lastWords(array string, task int) string {
	f, err := os.Open(r.file(array, fmt.Sprintf("-%d.log", task)))
	if err != nil {
		return ""
	}
	defer f.Close()
	_, _ = f.Seek(-maxWords, io.SeekEnd) // a shorter one is read from its begin
	text, err := io.ReadAll(io.LimitReader(f, maxWords))
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
