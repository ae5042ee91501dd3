package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"aqmlab/orchestrator/sweep"
)

// chunkName names the chunk of a job of an array, as [Work] reads it.
func chunkName(array, job string) string { return array + "-" + job }

// chunk finds the points of a chunk by its name.
func (r records) chunk(name string) (points []sweep.Point, err error) {
	array, job, _ := strings.Cut(name, "-")
	number, err := strconv.Atoi(job)
	if err != nil || !filepath.IsLocal(array) {
		return nil, fmt.Errorf("there is no chunk %q: want ARRAY-JOB", name)
	}
	chunks, err := r.chunks(array)
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= len(chunks) {
		return nil, fmt.Errorf("there is no chunk %q: array %s has %d", name, array, len(chunks))
	}
	at := make(map[string]sweep.Point)
	for _, p := range r.Measurements() {
		at[p.Key] = p
	}
	for _, key := range chunks[number] {
		if p, ok := at[key]; ok {
			points = append(points, p)
		}
	}
	return points, nil
}

// Work is what a task of an array does: it measures on this machine the points of a chunk
// that are neither stored nor failed. Those that this machine would store under another
// key fail: they would be others.
func Work(ctx context.Context, j sweep.Job, chunk string) error {
	points, err := records{j.Sweep}.chunk(chunk)
	if err != nil {
		return err
	}
	todo, err := j.Store.Todo(j.Sweep, points)
	if err != nil {
		return err
	}
	key, err := sweep.NewHasher(j.Sweep.Runtime)
	if err != nil {
		return err
	}
	j.Points = nil
	for i, u := range j.Sweep.Units(todo) {
		why := key.Check(u)
		if errors.As(why, new(*sweep.Lacking)) { // this machine, and not the point, is to blame
			return why
		}
		if why == nil {
			j.Points = append(j.Points, todo[i])
		} else if err := j.Sweep.NoteFailure(u, why, ""); err != nil {
			return err
		}
	}
	return sweep.Local().Run(ctx, j)
}
