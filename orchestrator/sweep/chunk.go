package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"aqmlab/results/store"
)

// chunksDir is where a sweep keeps what the jobs of a cluster are to measure: a file for
// each array of jobs.
const chunksDir = "chunks"

func (w *Sweep) chunkFile(array string) string {
	return filepath.Join(w.dir, chunksDir, array+".json")
}

// saveChunks stores what the jobs of an array are to measure: a list of keys for each.
func (w *Sweep) saveChunks(array string, chunks [][]Point) error {
	keys := make([][]string, len(chunks))
	for i, points := range chunks {
		for _, p := range points {
			keys[i] = append(keys[i], p.Key)
		}
	}
	text, err := json.Marshal(keys)
	if err == nil {
		err = os.MkdirAll(filepath.Join(w.dir, chunksDir), 0o755)
	}
	if err == nil {
		err = store.WriteFile(w.chunkFile(array), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("storing the chunks of array %s: %w", array, err)
	}
	return nil
}

// chunks reads what the jobs of an array are to measure.
func (w *Sweep) chunks(array string) (keys [][]string, err error) {
	text, err := os.ReadFile(w.chunkFile(array))
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the chunks of array %s: %w", array, err)
	}
	return keys, nil
}

// chunkName names the chunk of a job of an array, as [Store.Work] reads it.
func chunkName(array, job string) string { return array + "-" + job }

// chunk finds the points of a chunk by its name.
func (w *Sweep) chunk(name string) (points []Point, err error) {
	array, job, _ := strings.Cut(name, "-")
	number, err := strconv.Atoi(job)
	if err != nil || !filepath.IsLocal(array) {
		return nil, fmt.Errorf("there is no chunk %q: want ARRAY-JOB", name)
	}
	chunks, err := w.chunks(array)
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= len(chunks) {
		return nil, fmt.Errorf("there is no chunk %q: array %s has %d", name, array, len(chunks))
	}
	at := w.byKey()
	for _, key := range chunks[number] {
		if p, ok := at[key]; ok {
			points = append(points, p)
		}
	}
	return points, nil
}

// byKey finds points by their keys.
func (w *Sweep) byKey() map[string]Point {
	points := make(map[string]Point)
	for _, p := range w.first() {
		points[p.Key] = p
	}
	return points
}

// Work measures on this machine the points of a chunk that are neither stored nor failed.
// Those that this machine would store under another key fail: they would be others.
func (s Store) Work(ctx context.Context, w *Sweep, chunk string, o Options) error {
	points, err := w.chunk(chunk)
	if err != nil {
		return err
	}
	todo, err := s.todo(w, points)
	if err != nil {
		return err
	}
	key, err := NewHasher(w.runtime())
	if err != nil {
		return err
	}
	var mine []Point
	for i, u := range w.Units(todo) {
		if why := key.check(u); why == nil {
			mine = append(mine, todo[i])
		} else if err := w.noteFailure(u, why, thisHost()); err != nil {
			return err
		}
	}
	return runLocal(ctx, Job{Store: s, Sweep: w, Points: mine, Options: o})
}
