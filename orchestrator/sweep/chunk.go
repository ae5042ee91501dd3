package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"aqmlab/results/store"
)

// chunksDir is where a sweep keeps what each job of a cluster is to measure.
const chunksDir = "chunks"

func (w *Sweep) chunkFile(name string) string {
	return filepath.Join(w.dir, chunksDir, name+".json")
}

// saveChunk stores a list of points, by their keys.
func (w *Sweep) saveChunk(name string, points []Point) error {
	keys := make([]string, len(points))
	for i, p := range points {
		keys[i] = p.Key
	}
	text, err := json.Marshal(keys)
	if err == nil {
		err = os.MkdirAll(filepath.Join(w.dir, chunksDir), 0o755)
	}
	if err == nil {
		err = store.WriteFile(w.chunkFile(name), append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("storing chunk %s: %w", name, err)
	}
	return nil
}

// Work measures on this machine the points of a chunk that are neither stored nor failed.
func (s Store) Work(ctx context.Context, w *Sweep, chunk string, o Options) error {
	if !filepath.IsLocal(chunk) {
		return fmt.Errorf("there is no chunk %q", chunk)
	}
	text, err := os.ReadFile(w.chunkFile(chunk))
	if err != nil {
		return err
	}
	var keys []string
	if err := json.Unmarshal(text, &keys); err != nil {
		return fmt.Errorf("reading %s: %w", w.chunkFile(chunk), err)
	}
	todo, err := s.Todo(w)
	if err != nil {
		return err
	}
	todo = slices.DeleteFunc(todo, func(p Point) bool { return !slices.Contains(keys, p.Key) })
	return runLocal(ctx, Job{Store: s, Sweep: w, Points: todo, Options: o})
}
